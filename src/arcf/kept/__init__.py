"""What took long to make of a corpus, on disk: memory-mapped, named by a hash of its content, bounded."""

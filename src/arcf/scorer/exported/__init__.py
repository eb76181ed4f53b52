"""The scorer without torch: a model's graph in a folder, and what runs it."""

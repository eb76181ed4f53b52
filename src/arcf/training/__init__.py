"""Learning to score: losses, samples and the training loop."""

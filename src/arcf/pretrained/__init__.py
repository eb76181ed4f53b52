"""Models that others have trained: where they lie, what their files say, and the libraries that run them."""

"""The scorer in torch: the network and its encodings."""

"""Vectors of texts from a pretrained sentence encoder."""

from arcf.neighborhood.encoder.base import Encoder, Vectors
from arcf.neighborhood.encoder.loading import DEFAULT_MODEL, load_encoder, locate

__all__ = ["DEFAULT_MODEL", "Encoder", "Vectors", "load_encoder", "locate"]

"""Vectors of texts from a pretrained sentence encoder."""

from arcf.sentences.base import Encoder, Vectors
from arcf.sentences.loading import load_encoder

__all__ = ["Encoder", "Vectors", "load_encoder"]

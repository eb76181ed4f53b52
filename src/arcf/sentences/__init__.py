"""Vectors of texts from a pretrained sentence encoder."""

from arcf.sentences.base import Encoder, Vectors
from arcf.sentences.loading import load_encoder
from arcf.sentences.many import encode_many, forget_blocks

__all__ = ["Encoder", "Vectors", "encode_many", "forget_blocks", "load_encoder"]

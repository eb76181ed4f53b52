"""Reading datasets: facts, and questions about them."""

from arcf.data.directory import data_directory
from arcf.data.loading import load
from arcf.data.readers import READERS, Reader

__all__ = ["READERS", "Reader", "data_directory", "load"]

"""A chain as a picture: SVG, or one HTML page that needs nothing else."""

from arcf.picture.page import html_page
from arcf.picture.svg import svg_file

__all__ = ["html_page", "svg_file"]

"""The HTTP API and the page: needs the extra `serve`."""

from arcf.serving.app import create_app
from arcf.serving.server import serve
from arcf.serving.settings import ServingSettings

__all__ = ["ServingSettings", "create_app", "serve"]

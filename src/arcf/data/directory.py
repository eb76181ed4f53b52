"""Where installed datasets lie."""

import os
from pathlib import Path

VARIABLE = "ARCF_DATA"


def data_directory() -> Path:
    """The folder with one subfolder per installed dataset: $ARCF_DATA, else the user's data directory."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("arcf", appauthor=False)

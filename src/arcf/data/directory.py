"""Where installed datasets lie."""

import os
from pathlib import Path

from arcf.files import own_folder

VARIABLE = "ARCF_DATA"


def data_directory() -> Path:
    """The folder with one subfolder per installed dataset: $ARCF_DATA, else the user's data directory.

    Raises:
        InputError: the user has no home directory, and the variable names no folder.
    """
    from platformdirs import user_data_path

    chosen = os.environ.get(VARIABLE)
    with own_folder(VARIABLE):
        return Path(chosen).expanduser() if chosen else user_data_path("arcf", appauthor=False)

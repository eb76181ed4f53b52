"""Folders that are either complete or not there."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, beside `path`, that takes its place when the block ends; not if it ends with an error.

    A folder that is there already has its files replaced one by one, each in one piece: where only the weights change
    from one time to the next, there is no moment at which it does not hold a model.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
        if path.exists():
            for file in sorted(partial.iterdir()):
                file.replace(path / file.name)
            partial.rmdir()
        else:
            partial.rename(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise

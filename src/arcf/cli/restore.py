"""`arcf restore`: torch weights from an exported model."""

from pathlib import Path
from typing import Annotated

import typer

from arcf.cli.output import note
from arcf.errors import MissingExtraError


def restore(
    output: Annotated[Path, typer.Option(help="The folder to write.")],
    model: Annotated[
        str | None, typer.Argument(help="Folder of an exported model [default: the packaged one].")
    ] = None,
) -> None:
    """Make torch weights of an exported model, to train it further or to average it with another.

    They are as near to the weights that were exported as its precision kept them: equal for fp32, and of int8 ones an
    export in int8 is the same again.

    Example: arcf restore --output runs/packaged
    """
    try:
        from arcf.scorer import packaged_model
        from arcf.scorer.restore import restore as make
    except ModuleNotFoundError as error:
        raise MissingExtraError("Restoring a model", "train") from error

    make(model or packaged_model(), output)
    note(f"The model is in {output}")

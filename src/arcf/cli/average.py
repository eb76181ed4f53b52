"""`arcf average`: a model between two others."""

from pathlib import Path
from typing import Annotated

import typer

from arcf.cli.output import note
from arcf.errors import MissingExtraError


def average(
    trained: Annotated[str, typer.Argument(help="Folder of a trained model, or of the run that trained it.")],
    other: Annotated[str, typer.Argument(help="The pretrained model that it was made from, or another trained one.")],
    output: Annotated[Path, typer.Option(help="The folder to write.")],
    weight: Annotated[float, typer.Option(help="What the trained model weighs, from 0 to 1.")] = 0.5,
) -> None:
    """Average the weights of a trained model with those that it was made from, to keep more of what these knew.

    The score head, which a pretrained model does not have, stays as it was trained.

    Example: arcf average runs/minilm sentence-transformers/all-MiniLM-L6-v2 --weight 0.5 --output averaged
    """
    try:
        from arcf.training.averaging import average as mix
    except ModuleNotFoundError as error:
        raise MissingExtraError("Averaging models", "train") from error

    mix(trained, other, output, weight)
    note(f"The model is in {output}")

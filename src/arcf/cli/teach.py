"""`arcf teach`: a teacher's scores of the samples that a student will learn from."""

import json
from pathlib import Path
from typing import Annotated

import typer

from arcf.cli.output import note, progress_console
from arcf.cli.train import load_datasets
from arcf.errors import MissingExtraError, SettingError


def teach(
    model: Annotated[str, typer.Argument(help="The teacher: a model's folder, or that of the run that trained it.")],
    config: Annotated[Path | None, typer.Argument(help="A TOML file with the student's settings.")] = None,
    preset: Annotated[str | None, typer.Option(help="Packaged settings to start from.")] = None,
    overrides: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="One setting; may be repeated.")
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(help="Another teacher; may be repeated. Scores are the mean of all.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="The folder of scores [default: teacher.scores of the settings].")
    ] = None,
    device: Annotated[str, typer.Option(help="Where the teacher runs: cpu, cuda, ..., or auto.")] = "auto",
) -> None:
    """Let a teacher score the samples of a training run, once for all students that learn from them.

    The same command, given again after a kill, goes on where it was.

    Example: arcf teach runs/mpnet student.toml --output scores/mpnet
    """
    from rich.progress import Progress

    from arcf.config import read_settings

    try:
        from arcf.training.settings import TrainingSettings
        from arcf.training.teaching import plan_lessons
        from arcf.training.teaching import teach as score
    except ModuleNotFoundError as error:
        raise MissingExtraError("Teaching", "train") from error

    if config is None and preset is None:
        raise SettingError("Give the student's configuration file or a preset, such as --preset minilm.")
    wanted = [f"teacher.scores={json.dumps(str(output))}"] if output else []
    settings = read_settings(TrainingSettings, config, preset, [*(overrides or []), *wanted])
    if settings.teacher is None:
        raise SettingError("Give the folder of scores: --output, or teacher.scores in the settings.")
    folder = Path(settings.teacher.scores)
    lessons = plan_lessons(settings, load_datasets(settings.data), folder)
    with Progress(console=progress_console(), transient=True) as bar:
        task = bar.add_task("Teaching", total=sum(lesson.samples for lesson in lessons))
        score([model, *(also or [])], lessons, folder, device, lambda: bar.advance(task))
    note(f"The scores are in {folder}")

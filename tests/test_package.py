"""The package as a whole: what importing it costs."""

import resource
import subprocess
import sys
from importlib.resources import files

import pytest

import arcf

HEAVY = ("torch", "transformers", "onnxruntime", "tokenizers", "matplotlib", "sklearn", "faiss", "ot", "fastapi")


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    return {name.partition(".")[0] for name in output.split()}


@pytest.mark.parametrize("statement", ["import arcf", "import arcf.cli.app", "import arcf.neighborhood, arcf.rankers"])
def test_importing_loads_no_heavy_library(statement: str) -> None:
    assert not loaded_by(statement) & set(HEAVY)


@pytest.mark.parametrize("statement", ["import arcf.cli.app", "import arcf.explainer"])
def test_no_scipy_is_loaded_before_words_are_counted(statement: str) -> None:
    assert "scipy" not in loaded_by(statement)


@pytest.mark.parametrize("arguments", [["-c", "import arcf"], ["-m", "arcf", "--help"]])
def test_starting_takes_under_half_a_second(arguments: list[str]) -> None:
    def seconds() -> float:
        """Of the processor, not of the clock: the machine may be busy with other things."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.5


def test_it_is_typed() -> None:
    assert (files("arcf") / "py.typed").is_file()


def test_everything_it_exports_is_there() -> None:
    assert set(arcf.__all__) <= set(dir(arcf))
    assert all(getattr(arcf, name) is not None for name in arcf.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        arcf.nothing  # noqa: B018

"""The tables as jobs: what they depend on, and the commands that make them."""

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from arcf.config import read_settings
from arcf.errors import SettingError, UnknownNameError
from arcf.rankers import RankerSettings, find_kind

pytest.importorskip("torch")

import itertools

from arcf.experiments import paper
from arcf.experiments.budget import Budget, read_budget
from arcf.experiments.making import ExportJob, TrainJob
from arcf.experiments.measuring import RankJob
from arcf.experiments.place import Place, key_of, needs
from arcf.experiments.reproduction import prepare
from arcf.experiments.running import in_order
from arcf.experiments.systems import RECIPES, Systems
from arcf.experiments.tables import ALL, TABLES, tables_of
from arcf.training.settings import TrainingSettings

BUDGETS = ("smoke", "small", "paper")
PLACE = Place(Path("again"), "smoke", "minilm")


def at_home(name: str) -> Budget:
    """A budget with the packaged corpus in the place of its datasets: its own may not be installed."""
    return replace(read_budget(name), main="science", second=None, examples=("science-001",))


def options(command: str, flag: str) -> list[str]:
    words = shlex.split(command)
    return [after for word, after in itertools.pairwise(words) if word == flag]


@pytest.mark.parametrize("name", BUDGETS)
def test_every_job_comes_after_what_it_needs_and_once(name: str) -> None:
    jobs = in_order(
        job for table in tables_of(ALL, at_home(name)).values() for cell in table.cells for job in cell.jobs
    )
    keys = [key_of(job) for job in jobs]
    assert len(set(keys)) == len(keys)
    for place, job in enumerate(jobs):
        assert {key_of(need) for need in needs(job)} <= set(keys[:place])
    assert [job.alone for job in jobs] == sorted(job.alone for job in jobs)


@pytest.mark.parametrize("name", BUDGETS)
def test_commands_mean_what_the_jobs_do(name: str) -> None:
    budget = at_home(name)
    place = Place(Path("again"), name, budget.preset)
    jobs = in_order(job for table in tables_of(ALL, budget).values() for cell in table.cells for job in cell.jobs)
    for job in jobs:
        command = job.command(place)
        if isinstance(job, TrainJob):
            made = read_settings(TrainingSettings, preset=budget.preset, overrides=options(command, "--set"))
            expected = job.settings
            if job.start is not None:
                expected = replace(expected, model=replace(expected.model, name=str(job.start.product(place))))
            assert made == expected
        if isinstance(job, RankJob):
            settings = read_settings(RankerSettings, overrides=options(command, "--set"))
            described = replace(settings, kind=options(command, "--ranker")[0])
            assert described == job.ranker
            find_kind(replace(described, model="any" if job.model else None))
            assert options(command, "--model") == ([str(job.model.product(place))] if job.model else [])


def test_systems_are_trained_as_the_paper_says() -> None:
    systems = Systems(at_home("paper"))
    made = {recipe: systems.trained(recipe, "science").settings for recipe in RECIPES}
    assert {recipe for recipe, settings in made.items() if settings.optimisation.weight_decay == 0} == {
        "single-fact",
        "path-rerank",
    }
    assert {recipe for recipe, settings in made.items() if settings.sampling.conditioning} == {"ranknet-cn", "nce-cn"}
    assert made["single-fact"].optimisation.loss == made["path-rerank"].optimisation.loss == "bxent"
    assert (made["single-fact"].sampling.kind, made["single-fact"].sampling.pool) == ("facts", "corpus")
    assert made["path-rerank"].sampling.kind == "paths"
    assert (made["ranknet"].model.name, made["ranknet"].optimisation.epochs) == ("distilroberta-base", 4.0)
    assert [recipe for recipe in RECIPES if systems.trained(recipe, "science").start] == ["random"]


def test_the_second_dataset_has_a_model_of_its_own() -> None:
    budget = replace(at_home("paper"), second="elsewhere")
    assert budget.training("", "elsewhere", 1, {}).model.name == "bert-base-uncased"
    assert budget.training("", "science", 3, {}).run.seed == 3


def test_a_key_changes_with_all_that_counts_and_nothing_else() -> None:
    systems = Systems(at_home("smoke"))
    ranked = systems.ranked("ranknet", "science")
    assert key_of(replace(ranked, system="another name")) == key_of(ranked)
    others = [
        systems.ranked("ranknet", "science", seed=2),
        replace(ranked, data=replace(ranked.data, questions=2)),
        replace(ranked, ranker=replace(ranked.ranker, chain=replace(ranked.ranker.chain, k=7))),
        systems.ranked("nce", "science"),
    ]
    assert len({key_of(job) for job in (ranked, *others)}) == 5


def test_models_are_exported_if_the_budget_says_so() -> None:
    assert isinstance(Systems(at_home("small")).model("nce", "science"), ExportJob)
    assert isinstance(Systems(at_home("smoke")).model("nce", "science"), TrainJob)


def test_all_of_the_papers_figures_stand_beside_ours() -> None:
    budget = replace(at_home("small"), second="science")
    tables = tables_of(ALL, budget)
    assert [cell.theirs.value for cell in tables["table-2a"].cells if cell.theirs] == [
        value for year in (0, 1) for value in (row[year] for row in paper.MAIN.values())
    ]
    assert len([cell for cell in tables["table-2b"].cells if cell.theirs]) == len(paper.ABLATIONS) + 1
    assert {cell.place for cell in tables["table-2d"].cells} == set(paper.BY_K)
    assert len(tables["significance"].cells) == len(budget.seeded) * budget.seeds


def test_wrong_names() -> None:
    with pytest.raises(UnknownNameError, match="no table or figure named 'table-2z'"):
        tables_of("table-2z", at_home("smoke"))
    with pytest.raises(UnknownNameError, match="no budget named 'large'"):
        read_budget("large")
    with pytest.raises(SettingError, match="No cell of table-2a has nothing in its name"):
        prepare("table-2a", at_home("smoke"), Path("x"), ["nothing"])
    with pytest.raises(SettingError, match="seeds of a budget is at least 1"):
        replace(at_home("smoke"), seeds=0)


def test_only_keeps_cells_by_their_names() -> None:
    made = prepare("all", at_home("smoke"), Path("x"), ["single fact"])
    assert set(made.tables) == {"table-2a", "table-2c", "figure-2", "significance"}
    assert set(TABLES) > {"figure-3"}

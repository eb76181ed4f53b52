"""The paper's tables and figures as cells, each with the jobs that make it and the paper's own figure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from arcf.errors import UnknownNameError
from arcf.experiments import paper
from arcf.experiments.breakdowns import BreakdownJob
from arcf.experiments.budget import Budget
from arcf.experiments.making import TrainJob
from arcf.experiments.measuring import EvaluateJob, ExampleJob, Ranked, ReachabilityJob, TimeJob
from arcf.experiments.paper import Theirs
from arcf.experiments.place import Job
from arcf.experiments.systems import NAMES, Systems
from arcf.rankers import Tiers


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure to make.

    `evaluate`, `breakdown`, `train` and `reach` are what it is read from, `times` are times by what they are of. A cell
    of a sweep, or of `reach`, has its `place` there, one of several seeds its `seed`.
    """

    name: str
    dataset: str
    evaluate: EvaluateJob | None = None
    breakdown: BreakdownJob | None = None
    train: TrainJob | None = None
    times: tuple[tuple[str, TimeJob], ...] = ()
    reach: ReachabilityJob | None = None
    example: ExampleJob | None = None
    place: int = 0
    seed: int = 1
    theirs: Theirs | None = None
    their_seconds: float | None = None
    their_hours: float | None = None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """The jobs that it is read from; what these need comes before."""
        found = (self.train, self.evaluate, self.breakdown, self.reach, self.example, *(job for _, job in self.times))
        return tuple(job for job in found if job is not None)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells that belong together.

    `swept` is the setting that they differ in, if it is one; `reference` names the cell that the others of its dataset
    are compared with, question by question.
    """

    name: str
    title: str
    cells: tuple[Cell, ...]
    swept: str = ""
    reference: str = ""

    def reference_of(self, cell: Cell) -> Cell | None:
        """What a cell is compared with: None if that is the cell itself, or not there."""
        found = (own for own in self.cells if own.name == self.reference and own.dataset == cell.dataset)
        return next((own for own in found if own != cell), None)


def _cell(ranked: Ranked, theirs: Theirs | None = None, seed: int = 1) -> Cell:
    return Cell(ranked.system, ranked.data.dataset, EvaluateJob(ranked), theirs=theirs, seed=seed)


def reachability(budget: Budget) -> Table:
    """Table 1."""
    job = ReachabilityJob(budget.main, tuple(paper.REACHABILITY))
    cells = [
        Cell(f"k = {k}", budget.main, reach=job, place=k, theirs=Theirs(value, paper.TRAIN_2020))
        for k, value in paper.REACHABILITY.items()
    ]
    return Table("table-1", "Mean fraction of gold facts reachable", tuple(cells), "k")


def main_results(budget: Budget) -> Table:
    """Table 2a."""
    systems, cells = Systems(budget), []
    for year, dataset in enumerate(name for name in (budget.main, budget.second) if name):
        trained = ("ranknet", "ranknet-cn", "nce", "nce-cn")
        ranked: list[Ranked] = [
            systems.tfidf(dataset),
            systems.ranked("single-fact", dataset),
            systems.ranked("path-rerank", dataset),
            systems.ensemble(dataset),
            *(systems.ranked(recipe, dataset) for recipe in trained),
        ]
        where = (paper.TEST_2020, paper.TEST_2019)[year]
        for job in ranked:
            # TF-IDF has no model to be named.
            on = where.partition(",")[0] if job.system == "TF-IDF" else where
            cells.append(_cell(job, Theirs(paper.MAIN[job.system][year], on)))
    return Table("table-2a", "Main results", tuple(cells), reference=NAMES["ranknet"])


def ablations(budget: Budget) -> Table:
    """Table 2b."""
    systems, main = Systems(budget), budget.main
    ranked = [
        systems.ranked("ranknet", main),
        systems.ranked("bxent", main),
        systems.chains("ARCF, SF train", "single-fact"),
        systems.alone("ARCF, SF inf", "ranknet"),
        systems.ranked("no-prefix", main),
        systems.tiers("ARCF, without R3", Tiers(rest=False)),
        systems.tiers("ARCF, without R3 and S2", Tiers(scored=False, rest=False)),
    ]
    cells = [
        _cell(job, Theirs(round(paper.VALIDATION + paper.ABLATIONS[job.system], 4), paper.DIFFERENCE_2020))
        for job in ranked
    ]
    cells.append(_cell(systems.ranked("random", main), Theirs(round(paper.RANDOM, 4), paper.RANDOM_2020)))
    return Table("table-2b", "Ablations", tuple(cells), reference=NAMES["ranknet"])


def times(budget: Budget) -> Table:
    """Table 2c."""
    systems, main, cells = Systems(budget), budget.main, []
    for recipe in ("single-fact", "path-rerank", "ranknet"):
        ranked = systems.ranked(recipe, main)
        timed = [("", systems.timed(ranked))]
        if recipe == "ranknet":
            timed.append(("exact", systems.timed(ranked, rescored=None)))
        cells.append(
            Cell(
                ranked.system,
                main,
                train=systems.trained(recipe, main),
                times=_distinct(timed),
                their_seconds=paper.SECONDS[ranked.system],
                their_hours=paper.HOURS[ranked.system],
            )
        )
    return Table("table-2c", "Training and inference time", tuple(cells))


def by_k(budget: Budget) -> Table:
    """Table 2d; the paper's MAP is flat from k = 180 on."""
    return _sweep(budget, "table-2d", "Neighborhood size k, at L = 8", "k", paper.BY_K)


def by_length(budget: Budget) -> Table:
    """Table 2e; the paper's MAP is flat from L = 8 on."""
    return _sweep(budget, "table-2e", "Maximum length L, at k = 180", "L", paper.BY_L)


def _sweep(budget: Budget, name: str, title: str, swept: str, theirs: Mapping[int, tuple[float, float]]) -> Table:
    systems, cells, usual = Systems(budget), [], {"k": 180, "L": 8}
    for value, (their_map, their_seconds) in theirs.items():
        chain = usual | {swept: value}
        ranked = systems.chains(f"{swept} = {value}", "ranknet", k=chain["k"], max_facts=chain["L"])
        timed = [("", systems.timed(ranked)), ("exact", systems.timed(ranked, rescored=None))]
        cells.append(
            Cell(
                ranked.system,
                budget.main,
                EvaluateJob(ranked),
                times=_distinct(timed),
                place=value,
                theirs=Theirs(their_map, paper.TEST_2020),
                their_seconds=their_seconds,
            )
        )
    return Table(name, title, tuple(cells), swept, f"{swept} = {usual[swept]}")


def breakdowns(budget: Budget) -> Table:
    """Figure 2."""
    systems = Systems(budget)
    ranked = [systems.ranked(recipe, budget.main) for recipe in ("ranknet", "single-fact")]
    cells = [replace(_cell(job), breakdown=BreakdownJob(job)) for job in ranked]
    return Table("figure-2", "MAP on parts of the questions and of the gold facts", tuple(cells))


def examples(budget: Budget) -> Table:
    """The appendix's examples."""
    systems, main = Systems(budget), budget.main
    model = systems.model("ranknet", main)
    cells = [
        Cell(question, main, example=ExampleJob(systems.ranker("arcf"), main, question, model))
        for question in budget.examples
    ]
    return Table("examples", "Best 15 facts of two questions", tuple(cells))


def significance(budget: Budget) -> Table:
    """Five seeds of ARCF and of the strongest baseline."""
    systems = Systems(budget)
    cells = [
        _cell(systems.ranked(recipe, budget.main, seed), seed=seed)
        for recipe in budget.seeded
        for seed in range(1, budget.seeds + 1)
    ]
    return Table("significance", "Seeds", tuple(cells))


TABLES: Mapping[str, Callable[[Budget], Sequence[Table]]] = {
    "table-1": lambda budget: [reachability(budget)],
    "table-2a": lambda budget: [main_results(budget)],
    "table-2b": lambda budget: [ablations(budget)],
    "table-2c": lambda budget: [times(budget)],
    "table-2d": lambda budget: [by_k(budget)],
    "table-2e": lambda budget: [by_length(budget)],
    "figure-2": lambda budget: [breakdowns(budget)],
    "figure-3": lambda budget: [by_k(budget), by_length(budget)],
    "examples": lambda budget: [examples(budget)],
    "significance": lambda budget: [significance(budget)],
}
ALL = "all"


def tables_of(what: str, budget: Budget) -> dict[str, Table]:
    """The tables that a name stands for, each once.

    Raises:
        UnknownNameError: there is no such table or figure.
    """
    if what not in TABLES and what != ALL:
        raise UnknownNameError("table or figure", what, [*TABLES, ALL])
    wanted = list(TABLES) if what == ALL else [what]
    made = [table for name in wanted for table in TABLES[name](budget)]
    return {table.name: table for table in made}


def _distinct(timed: Sequence[tuple[str, TimeJob]]) -> tuple[tuple[str, TimeJob], ...]:
    """Times by name, without those that time the same thing again."""
    kept: dict[TimeJob, str] = {}
    for name, job in timed:
        kept.setdefault(job, name)
    return tuple((name, job) for job, name in kept.items())

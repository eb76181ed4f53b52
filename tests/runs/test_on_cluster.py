"""Runs that are made on a real cluster, against those of a single process."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from arcf.bench.corpus import make_corpus
from arcf.chain import ChainSettings
from arcf.cluster import Pool, PoolSettings
from arcf.data import load
from arcf.data.sample import sampled
from arcf.kept.folder import MODELS
from arcf.rankers import EnsembleSettings, OnCluster, RankerSettings, build_ranker
from arcf.rankers.parcel import Parcel
from arcf.runs import RankingJob, rank_on_cluster, rank_to_file
from arcf.runs.on_cluster import ClusterProgress
from arcf.scorer import packaged_model
from arcf.types import Dataset, Question

ray = pytest.importorskip("ray")
pytestmark = [pytest.mark.xdist_group("ray"), pytest.mark.filterwarnings("ignore:::ray")]
CHAIN = ChainSettings(k=40, max_facts=3)

# Workers cannot import the tests: these classes travel as code.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model that only this test knows of, in a folder."""
    folder = tmp_path / "model"
    shutil.copytree(packaged_model(), folder)
    return folder


def job_of(ranker: RankerSettings, questions: int = 8) -> RankingJob:
    dataset = load("science")
    return RankingJob(ranker, dataset, dataset.split("dev")[:questions], top_k=30)


@pytest.mark.usefixtures("cluster")
def test_the_run_is_the_one_of_a_single_process(model: Path, tmp_path: Path, nodes_cache: Path) -> None:
    job, told = job_of(RankerSettings(model=str(model), chain=CHAIN, threads=1)), list[ClusterProgress]()
    rank_to_file(job, tmp_path / "here", "json")
    rank_on_cluster(job, OnCluster("auto", workers=2), tmp_path / "there", "json", told.append)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
    assert [progress.ranked for progress in told] == list(range(1, 9))
    assert all(1 <= progress.alive <= progress.workers == 2 for progress in told)
    assert not (tmp_path / "there.partial").exists()
    assert [path.name for path in (nodes_cache / MODELS).iterdir()] == [
        Parcel.of(job.ranker, job.dataset).models[str(model)].key
    ]


@dataclass(frozen=True, eq=False)
class Looking:
    """Ranks as a worker does, and tells which kept files it has mapped: by their folder and number on disk."""

    parcel: Parcel
    cache: Path

    def prepare(self) -> Callable[[Question], "Seen"]:
        os.environ["ARCF_CACHE"] = str(self.cache)
        ranker = build_ranker(*self.parcel.open())
        return lambda question: self.look(ranker.rank(question).facts.tolist())

    def look(self, ranked: list[int]) -> "Seen":
        maps = [line.split() for line in Path("/proc/self/maps").read_text().splitlines()]
        mapped = {(Path(line[-1]).parent.name, line[4]) for line in maps if line[-1].endswith(".kept")}
        return ray.get_runtime_context().get_node_id(), os.getpid(), mapped, ranked


Seen = tuple[str, int, set[tuple[str, str]], list[int]]


def look(cache: Path) -> tuple[list[Seen], list[int]]:
    """What each of three workers sees of a corpus, and what a single process ranks."""
    made_up = make_corpus(20_000, 3)
    dataset, settings = Dataset("made-up", made_up.facts), RankerSettings("tfidf")
    with Pool(Looking(Parcel.of(settings, dataset), cache), PoolSettings(3, cpus=0.25)) as pool:
        while pool.alive < 3:
            list(pool.answers(made_up.questions))
        seen = list(pool.answers([made_up.questions[0]] * 3))
    return seen, build_ranker(settings, dataset).rank(made_up.questions[0]).facts.tolist()


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="asks Linux what is mapped")
@pytest.mark.usefixtures("cluster")
def test_workers_of_a_node_map_the_same_files(tmp_path: Path) -> None:
    seen, expected = look(tmp_path / "cache")
    assert len({process for _, process, _, _ in seen}) == 3
    assert len({node for node, _, _, _ in seen}) <= 2  # so two of them are neighbors
    files = {(path.parent.name, str(path.stat().st_ino)) for path in (tmp_path / "cache").rglob("*.kept")}
    assert {folder for folder, _ in files} == {"words", "distances"}
    assert all(mapped & files == {file for file in files if file[0] == "distances"} for _, _, mapped, _ in seen)
    assert all(ranked == expected for _, _, _, ranked in seen)


@pytest.mark.usefixtures("cluster")
def test_a_node_whose_cache_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    seen, expected = look(tmp_path / "cache")
    assert [(mapped, ranked) for _, _, mapped, ranked in seen] == [(set(), expected)] * 3


@pytest.mark.usefixtures("cluster")
def test_an_interrupted_run_goes_on_with_or_without_the_cluster(tmp_path: Path) -> None:
    job = job_of(RankerSettings(chain=CHAIN, threads=1))

    def interrupt(progress: ClusterProgress) -> None:
        if progress.ranked == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank_on_cluster(job, OnCluster("auto", workers=1), tmp_path / "run", "json", interrupt)
    kept = (tmp_path / "run.partial").read_text().splitlines()
    assert len(kept) == 1 + 3
    asked: list[None] = []
    rank_to_file(job, tmp_path / "run", "json", lambda: asked.append(None))
    rank_to_file(job, tmp_path / "whole", "json")
    assert (tmp_path / "run").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not (tmp_path / "run.partial").exists()


def test_a_driver_that_is_killed_goes_on(cluster: Any, tmp_path: Path) -> None:
    output, journal = tmp_path / "run.json", tmp_path / "run.json.partial"
    command = [sys.executable, "-m", "arcf", "rank", "--split", "dev", "--output", str(output), "--format", "json"]
    command += ["--questions", "7", "-k", "60", "--max-facts", "4", "--threads", "1"]
    command += ["--ray", cluster.address, "--workers", "1"]
    driver = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    while not journal.exists() or len(journal.read_bytes().splitlines()) < 2:
        assert driver.poll() is None
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert not output.exists()
    kept = journal.read_bytes().splitlines()[1:]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "7 questions ranked" in done.stderr
    assert 0 < len(kept) < 7
    dataset = sampled(load("science"), "dev", 7)
    ranker = RankerSettings(chain=replace(CHAIN, k=60, max_facts=4), threads=1)
    rank_to_file(RankingJob(ranker, dataset, dataset.split("dev")), tmp_path / "whole", "json")
    assert output.read_bytes() == (tmp_path / "whole").read_bytes()


def test_ray_is_started_here_if_no_address_is_given(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "arcf", "rank", "--split", "dev", "--ranker", "tfidf", "--top-k", "5", "--output"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY")}
    for name, more in (("here", []), ("there", ["--ray", "--workers", "1"])):
        done = subprocess.run(
            [*command, str(tmp_path / name), *more], capture_output=True, text=True, check=False, env=clean
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


def test_models_travel_and_their_names_follow(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCF_CACHE", str(tmp_path / "cache"))
    members = EnsembleSettings(("bm25", f"single-fact:{model}", "arcf:on/the-hub"))
    parcel = Parcel.of(RankerSettings("ensemble", model=str(model), ensemble=members), load("science"))
    settings, dataset = parcel.open()
    assert settings.model is not None
    assert Path(settings.model).is_relative_to(tmp_path / "cache")
    assert settings.ensemble.members == ("bm25", f"single-fact:{settings.model}", "arcf:on/the-hub")
    assert settings.threads == 1
    assert (tuple(dataset.facts), dict(dataset.splits)) == (tuple(load("science").facts), dict(load("science").splits))


def test_a_ranker_without_a_model_keeps_its_settings() -> None:
    assert Parcel.of(RankerSettings("tfidf"), load("science")).open()[0] == RankerSettings("tfidf")

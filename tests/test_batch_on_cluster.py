"""Explanations that are made on a real cluster, against those of a single process."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from arcf.batch import ExplanationJob, explain_to_file, explaining_on
from arcf.chain import ChainSettings
from arcf.data import load
from arcf.rankers import OnCluster, RankerSettings

pytest.importorskip("ray")


@pytest.mark.xdist_group("ray")
@pytest.mark.usefixtures("cluster")
@pytest.mark.filterwarnings("ignore:::ray")
def test_a_cluster_explains_the_same(tmp_path: Path) -> None:
    dataset = load("science")
    ranker = RankerSettings(chain=ChainSettings(k=40, max_facts=2), threads=1)
    job, told = ExplanationJob(ranker, dataset, dataset.split("dev")[:6], top_k=3), list[tuple[int, int]]()
    work = explaining_on(OnCluster("auto", workers=2), lambda *workers: told.append(workers))
    explain_to_file(replace(job, questions=job.questions[:2]), tmp_path / "there")  # which a cluster goes on with
    explain_to_file(job, tmp_path / "there", work=work)
    explain_to_file(job, tmp_path / "here")
    there, here = (
        {record["id"]: record | {"seconds": None} for record in map(json.loads, path.read_text().splitlines())}
        for path in (tmp_path / "there", tmp_path / "here")
    )
    assert there == here
    assert len((tmp_path / "there").read_text().splitlines()) == len(here) == 6
    assert len(told) == 4
    assert all(1 <= alive <= workers == 2 for alive, workers in told)
    assert list(work(replace(job, questions=()))) == []

"""Runs: the rankings of many questions, and their files."""

from arcf.runs.files import FORMATS, read_run, read_runs, write_run
from arcf.runs.fusion import fuse_runs
from arcf.runs.journal import Journal
from arcf.runs.on_cluster import ClusterProgress, rank_on_cluster
from arcf.runs.ranking import RankingJob, rank_questions, rank_to_file
from arcf.runs.run import ChosenUids, Run

__all__ = [
    "FORMATS",
    "ChosenUids",
    "ClusterProgress",
    "Journal",
    "RankingJob",
    "Run",
    "fuse_runs",
    "rank_on_cluster",
    "rank_questions",
    "rank_to_file",
    "read_run",
    "read_runs",
    "write_run",
]

"""Scoring runs as the shared tasks do, breaking the score down, and comparing runs."""

from arcf.evaluation.breakdown import FactGroups, Group
from arcf.evaluation.chains import ChainCalibration, ChainQuality
from arcf.evaluation.comparison import ComparedPart, ComparedRun, Comparison, Difference, compare
from arcf.evaluation.judgement import judge_ranking, mean_average_precision
from arcf.evaluation.reachability import Reachability, hop_groups, hop_labels, reachabilities
from arcf.evaluation.report import Evaluation, QuestionScore, evaluate
from arcf.evaluation.significance import Interval

__all__ = [
    "ChainCalibration",
    "ChainQuality",
    "ComparedPart",
    "ComparedRun",
    "Comparison",
    "Difference",
    "Evaluation",
    "FactGroups",
    "Group",
    "Interval",
    "QuestionScore",
    "Reachability",
    "compare",
    "evaluate",
    "hop_groups",
    "hop_labels",
    "judge_ranking",
    "mean_average_precision",
    "reachabilities",
]

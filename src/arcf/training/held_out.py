"""How good a model in training is on the held-out questions of one corpus."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from arcf.chain import ChainSettings
from arcf.evaluation.breakdown import UNSEEN, by_training
from arcf.evaluation.judgement import judge_questions
from arcf.rankers import Autoregressive, Ranker
from arcf.runs import Run, rank_questions
from arcf.scorer.network.scorer import Network, TorchScorer
from arcf.scorer.prior import SumOfPriors, WithPrior
from arcf.training.feed import Corpus
from arcf.training.figures import Figures
from arcf.training.settings import TrainingSettings
from arcf.training.sources import Source
from arcf.types import Question


class HeldOut:
    """The held-out questions of a source, and those that held-out facts explain, ranked by chains over its corpus."""

    def __init__(self, source: Source, corpus: Corpus, settings: TrainingSettings) -> None:
        wanted = settings.validation
        self._source = source
        self._corpus = corpus
        self._query = settings.sampling.query
        self._held_out = _spread(source.split.held_out, wanted.questions)
        self._new = _spread(source.split.new, wanted.questions)
        self._chains = ChainSettings(
            k=wanted.k,
            max_facts=wanted.max_facts,
            min_facts=wanted.max_facts,
            rescored=wanted.rescored,
            screened=None,  # Figures of earlier runs stay comparable.
        )

    def measure(self, model: Network) -> Figures:
        """MAP with the weights as they are now."""
        corpus = self._corpus
        plain = TorchScorer(model, corpus.facts)
        priors = [prior for prior in (corpus.prior, corpus.precedents) if prior is not None]
        scorer = WithPrior(plain, SumOfPriors(priors)) if priors else plain
        ranker = Autoregressive(scorer, corpus.neighborhood, self._chains, query=self._query)
        figures = self._judge(ranker, self._held_out)
        if not self._new:
            return figures
        new = self._judge(ranker, self._new)
        return replace(figures, new=new.map, new_unseen=new.unseen)

    def _judge(self, ranker: Ranker, questions: Sequence[Question]) -> Figures:
        dataset = self._source.dataset
        run = Run.of("held-out", dataset, rank_questions(ranker, questions))
        judgements = judge_questions(run, dataset, questions, dataset.name)
        parts = {group.name: group.map for group in by_training(judgements, self._source.split.learnt)}
        return Figures(fmean(judgement.average_precision for judgement in judgements), parts.get(UNSEEN))


def _spread(questions: Sequence[Question], count: int | None) -> Sequence[Question]:
    """At most so many of the questions, evenly spaced."""
    kept = len(questions) if count is None else min(len(questions), count)
    return [questions[place * len(questions) // kept] for place in range(kept)]

"""How good a model in training is on the held-out questions of one corpus."""

from collections.abc import Sequence

from arcf.chain import ChainSettings
from arcf.evaluation import mean_average_precision
from arcf.rankers import Autoregressive
from arcf.runs import Run, rank_questions
from arcf.scorer.network.scorer import Network, TorchScorer
from arcf.scorer.prior import WithPrior
from arcf.training.feed import Corpus
from arcf.training.settings import TrainingSettings
from arcf.training.sources import Source
from arcf.types import Question


class HeldOut:
    """The held-out questions of a source, ranked by chains over its corpus."""

    def __init__(self, source: Source, corpus: Corpus, settings: TrainingSettings) -> None:
        wanted = settings.validation
        self._source = source
        self._corpus = corpus
        self._query = settings.sampling.query
        self._questions = _spread(source.split.held_out, wanted.questions)
        self._chains = ChainSettings(
            k=wanted.k, max_facts=wanted.max_facts, min_facts=wanted.max_facts, rescored=wanted.rescored
        )

    def measure(self, model: Network) -> float:
        """MAP with the weights as they are now."""
        corpus, dataset = self._corpus, self._source.dataset
        plain = TorchScorer(model, corpus.facts)
        scorer = plain if corpus.prior is None else WithPrior(plain, corpus.prior)
        ranker = Autoregressive(scorer, corpus.neighborhood, self._chains, query=self._query)
        run = Run.of("held-out", dataset, rank_questions(ranker, self._questions))
        return mean_average_precision(run, dataset, self._questions)


def _spread(questions: Sequence[Question], count: int | None) -> Sequence[Question]:
    """At most so many of the questions, evenly spaced."""
    kept = min(len(questions), count or len(questions))
    return [questions[place * len(questions) // kept] for place in range(kept)]

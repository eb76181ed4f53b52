"""One search, and what the API shows of it."""

from collections.abc import Generator
from dataclasses import asdict, dataclass

from arcf.explainer import Explainer
from arcf.explanation import Explanation, given_to_dict, question_to_dict, step_to_dict
from arcf.serving.schemas import ExplanationView, Link, Opening, RankingView
from arcf.types import Question, Step


@dataclass(frozen=True, eq=False)
class Search:
    """A request that is found right: what is left to do is to search."""

    explainer: Explainer
    question: Question
    start: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def steps(self) -> Generator[Step, None, Explanation]:
        """The steps as they are found."""
        return self.explainer.steps(self.question, self.start, self.excluded)

    def opening(self) -> Opening:
        """What is known before the first step."""
        dataset, search = self.explainer.dataset, self.explainer.ranker.search
        start = [dataset.ids[uid] for uid in self.start]
        return Opening.model_validate(
            question_to_dict(self.question, dataset)
            | {"given": given_to_dict(start, self.question, search), "max_facts": search.settings.max_facts}
        )

    def link(self, step: Step) -> Link:
        """A step, as the API shows it."""
        return Link.model_validate(step_to_dict(step, self.explainer.dataset.facts))

    def explanation(self, explanation: Explanation) -> ExplanationView:
        """The chain, as the API shows it."""
        more = {"ending": explanation.ending(), "average_precision": explanation.average_precision}
        return ExplanationView.model_validate(explanation.to_dict() | more)

    def ranking(self, explanation: Explanation, top_k: int) -> RankingView:
        """The best facts, as the API shows them."""
        return RankingView.model_validate(
            question_to_dict(self.question, self.explainer.dataset)
            | {
                "facts": [asdict(fact) for fact in explanation.ranking(top_k)],
                "average_precision": explanation.average_precision,
            }
        )

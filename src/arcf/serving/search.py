"""One search, and what the API shows of it."""

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from arcf.evaluation.measures import average_precision, gold_ranks
from arcf.explainer import Explainer
from arcf.explanation import Explanation
from arcf.serving.models import ExplanationView, FactView, Link, Opening, QuestionView, RankingView, ScoredFact, Sight
from arcf.types import Candidate, Question, SeenFrom, Step


@dataclass(frozen=True, eq=False)
class Search:
    """A request that is found right: what is left to do is to search."""

    explainer: Explainer
    question: Question
    start: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def steps(self) -> Generator[Step, None, Explanation]:
        """The steps as they are found."""
        return self.explainer.steps(self.question, start=self.start, excluded=self.excluded)

    def opening(self) -> Opening:
        """What is known before the first step."""
        longest = self.explainer.ranker.search.settings.longest
        return Opening(**self._question().model_dump(), given=self._given(), longest=longest)

    def link(self, step: Step) -> Link:
        """A step, as the API shows it."""
        chosen = self._named(step.chosen.fact).model_dump()
        return Link(
            **chosen,
            score=step.chosen.score,
            seen_from=self._sights(step.seen_from),
            runners_up=self._scored(step.runners_up),
            stop_score=step.stop_score,
        )

    def explanation(self, explanation: Explanation) -> ExplanationView:
        """The chain, as the API shows it."""
        chain, found = explanation.chain, explanation.found
        return ExplanationView(
            **self._question().model_dump(),
            facts=[*self._given(), *map(self.link, chain.steps)],
            stopped=chain.stopped,
            stop_score=chain.stop_score,
            left_out=self._scored(chain.left_out),
            ending=explanation.ending(),
            average_precision=self._average_precision(explanation),
            considered=found.considered,
            scorings=found.scorings,
            seconds=round(explanation.seconds, 4),
        )

    def ranking(self, explanation: Explanation, top: int) -> RankingView:
        """The best facts, as the API shows them."""
        ranking = self.explainer.ranking(explanation)
        pairs = zip(ranking.facts[:top].tolist(), ranking.scores[:top].tolist(), strict=True)
        return RankingView(
            **self._question().model_dump(),
            facts=self._scored(Candidate(fact, score) for fact, score in pairs),
            average_precision=self._average_precision(explanation),
        )

    def _average_precision(self, explanation: Explanation) -> float | None:
        gold = gold_uids(self.explainer, self.question)
        if not gold:
            return None
        ranked = (self.explainer.dataset.facts[fact].uid for fact in self.explainer.ranking(explanation).facts.tolist())
        return average_precision(gold_ranks(ranked, gold).values(), len(gold))

    def _question(self) -> QuestionView:
        return question_view(self.explainer, self.question)

    def _given(self) -> list[Link]:
        """The facts that the chain begins with, and where they can be seen from."""
        search, ids = self.explainer.ranker.search, [self.explainer.dataset.ids[uid] for uid in self.start]
        return [
            Link(
                **self._named(fact).model_dump(),
                given=True,
                seen_from=self._sights(
                    search.neighborhood.seen_from(fact, self.question.text, ids[:place], search.settings.k)
                ),
            )
            for place, fact in enumerate(ids)
        ]

    def _sights(self, seen: Iterable[SeenFrom]) -> list[Sight]:
        facts = self.explainer.dataset.facts
        return [
            Sight(source=None if sight.source is None else facts[sight.source].uid, words=list(sight.words))
            for sight in seen
        ]

    def _scored(self, candidates: Iterable[Candidate]) -> list[ScoredFact]:
        return [
            ScoredFact(**self._named(candidate.fact).model_dump(), score=candidate.score) for candidate in candidates
        ]

    def _named(self, fact: int) -> FactView:
        found = self.explainer.dataset.facts[fact]
        return FactView(uid=found.uid, text=found.text)


def question_view(explainer: Explainer, question: Question) -> QuestionView:
    """A question, as the API shows it."""
    return QuestionView(
        id=question.id or None,
        question=question.stem,
        answer=question.answer,
        options=[option.text for option in question.options],
        gold=gold_uids(explainer, question),
    )


def gold_uids(explainer: Explainer, question: Question) -> list[str]:
    """The uids of a question's gold facts."""
    return [explainer.dataset.facts[fact].uid for fact in explainer.dataset.gold_ids(question)]

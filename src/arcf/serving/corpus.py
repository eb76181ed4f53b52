"""Looking around in the corpus: facts, their neighbors, and the dataset's questions."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from arcf.explainer import Explainer
from arcf.explanation import question_to_dict
from arcf.neighborhood.text import Analyzer
from arcf.serving.problems import ProblemError
from arcf.serving.schemas import DatasetQuestion, FactDetail, FactView, Item, Neighbor, Page
from arcf.types import Question

Entry = TypeVar("Entry")


class Corpus:
    """The facts and questions of one explainer. Searches go to the distance itself: nothing is remembered of them."""

    def __init__(self, explainer: Explainer) -> None:
        self._dataset = explainer.dataset
        self._distance = explainer.ranker.search.neighborhood.distance
        self._analyzer = Analyzer()
        self._questions = [(split, question) for split, listed in self._dataset.splits.items() for question in listed]

    @property
    def size(self) -> int:
        """The number of questions."""
        return len(self._questions)

    def facts(self, query: str, page: int, size: int) -> Page[FactView]:
        """A page of the facts near a text, nearest first; of all facts, if the text is empty."""
        count = len(self._dataset.facts)
        ids = self._distance.nearest(query, count).tolist() if query.strip() else range(count)
        return _page(ids, page, size, self._fact)

    def fact(self, uid: str, k: int) -> FactDetail:
        """A fact and its k nearest neighbors.

        Raises:
            ProblemError: there is no such fact.
        """
        if uid not in self._dataset.ids:
            raise ProblemError(404, f"There is no fact '{uid}' in {self._dataset.name}.")
        place = self._dataset.ids[uid]
        fact = self._dataset.facts[place]
        near = [self._dataset.facts[found] for found in self._distance.nearest(place, k).tolist()]
        neighbors = [
            Neighbor(uid=other.uid, text=other.text, words=list(self._analyzer.shared(other.text, fact.text).values()))
            for other in near
        ]
        return FactDetail(uid=fact.uid, text=fact.text, table=fact.table, neighbors=neighbors)

    def questions(self, query: str, page: int, size: int) -> Page[DatasetQuestion]:
        """A page of the questions that contain a text, in their id, their words or their answer."""
        wanted = query.strip().casefold()
        found = [entry for entry in self._questions if wanted in f"{entry[1].id} {entry[1].text}".casefold()]
        return _page(found, page, size, self._question)

    def _fact(self, place: int) -> FactView:
        fact = self._dataset.facts[place]
        return FactView(uid=fact.uid, text=fact.text)

    def _question(self, entry: tuple[str, Question]) -> DatasetQuestion:
        split, question = entry
        more = {"split": split, "difficulty": question.difficulty}
        return DatasetQuestion.model_validate(question_to_dict(question, self._dataset) | more)


def _page(entries: Sequence[Entry], page: int, size: int, view: Callable[[Entry], Item]) -> Page[Item]:
    first = (page - 1) * size
    shown = [view(entry) for entry in entries[first : first + size]]
    return Page(items=shown, total=len(entries), page=page, pages=-(-len(entries) // size))

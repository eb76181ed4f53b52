"""From a request to a search: the limits, and what the names in it stand for."""

from collections.abc import Sequence
from dataclasses import replace

from arcf.chain import ChainSettings
from arcf.explainer import Explainer, ask
from arcf.serving.problems import ProblemError
from arcf.serving.schemas import AskRequest, ExplainRequest, SearchSettings
from arcf.serving.search import Search
from arcf.serving.settings import ServingSettings
from arcf.types import Question


class Service:
    """Checks requests against the limits and makes searches of them.

    `chain_settings` are those of a request that names none: the explainer's, within the limits.
    """

    def __init__(self, explainer: Explainer, settings: ServingSettings) -> None:
        self.explainer = explainer
        self.settings = settings
        base = explainer.settings
        self.chain_settings = replace(
            base, k=min(base.k, settings.k), max_facts=min(base.max_facts, settings.max_facts)
        )
        splits = explainer.dataset.splits
        self._questions = {question.id: question for split in splits.values() for question in split}

    def search(self, request: AskRequest) -> Search:
        """The search that a request asks for.

        Raises:
            ProblemError: it goes beyond a limit, or names what is not there.
            ArcfError: it contradicts itself.
        """
        question = self._asked(request)
        wanted = request if isinstance(request, ExplainRequest) else ExplainRequest()
        start, excluded = self._known(wanted.start), self._known(wanted.excluded)
        self._check(len(start), self.settings.max_facts, "facts that the chain begins with")
        if both := set(start).intersection(excluded):
            raise ProblemError(422, f"The fact '{min(both)}' is both in start and in excluded.")
        # Who asks for a ranking, or can be told how good it is, waits for it.
        whole = wanted is not request or bool(self.explainer.dataset.gold_ids(question))
        settings = replace(self._chain_settings(request.settings), whole=whole)
        return Search(self.explainer.with_settings(settings), question, start, excluded)

    def _asked(self, request: AskRequest) -> Question:
        if (request.question is None) == (request.id is None):
            raise ProblemError(422, "Give either a question or the id of one.")
        if request.id is not None:
            if request.answer or request.options:
                raise ProblemError(422, "A question of the dataset has its own answer and options; give its id alone.")
            if request.id not in self._questions:
                raise ProblemError(404, f"There is no question '{request.id}' in {self.explainer.dataset.name}.")
            return self._questions[request.id]
        for text in (request.question or "", request.answer, *request.options):
            self._check(len(text), self.settings.question_chars, "characters of a question, answer or option")
        return ask(request.question or "", request.answer, request.options)

    def _known(self, uids: Sequence[str]) -> tuple[str, ...]:
        for uid in uids:
            if uid not in self.explainer.dataset.ids:
                raise ProblemError(404, f"There is no fact '{uid}' in {self.explainer.dataset.name}.")
        return tuple(dict.fromkeys(uids))

    def _chain_settings(self, wanted: SearchSettings) -> ChainSettings:
        base = self.chain_settings
        given = {name: value for name, value in wanted.model_dump(exclude={"exact"}).items() if value is not None}
        self._check(wanted.k or 0, self.settings.k, "k")
        self._check(wanted.max_facts or 0, self.settings.max_facts, "max_facts")
        if (wanted.min_facts or 0) > (most := wanted.max_facts or base.max_facts):
            raise ProblemError(422, f"A chain of at most {most} facts cannot have at least {wanted.min_facts}.")
        if wanted.exact is not None:
            given["rescored"] = None if wanted.exact else base.rescored or ChainSettings().rescored
        return replace(base, **given)

    def _check(self, value: int, most: int, what: str) -> None:
        if value > most:
            raise ProblemError(422, f"Too much: {what}: at most {most}, not {value}.")

"""The public face of arcf: load a model and facts once, then explain answers."""

from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from string import ascii_uppercase
from time import perf_counter

from arcf.chain import ChainSettings, Found, result
from arcf.data import load as load_dataset
from arcf.errors import InputError, SettingError, UnknownNameError
from arcf.explanation import Explanation
from arcf.neighborhood import Neighborhood, recipe
from arcf.neighborhood.store import cached
from arcf.rankers import Autoregressive
from arcf.scorer import Scorer, load_scorer
from arcf.types import Dataset, Fact, Option, Question, Ranking, Step


class Explainer:
    """Explains answers from one corpus with one model. Threads may share it.

    A question is a text, with its answer and, if there were any, its options; or a `Question`, which has its own.
    """

    def __init__(
        self, dataset: Dataset, neighborhood: Neighborhood, scorer: Scorer, settings: ChainSettings | None = None
    ) -> None:
        self.dataset = dataset
        self.ranker = Autoregressive(scorer, neighborhood, settings)

    def explain(
        self,
        question: str | Question,
        answer: str = "",
        options: Sequence[str] = (),
        start: Sequence[str] = (),
        excluded: Collection[str] = (),
    ) -> Explanation:
        """The chain of facts that explains the answer.

        Args:
            question: the question without its options.
            answer: its right answer; with options, the text or the letter (A, B, ...) of one of them.
            options: the texts of all options.
            start: uids of facts that the chain begins with.
            excluded: uids of facts that it must not use.

        Raises:
            InputError: the question is empty, or the answer is none of the options.
            SettingError: a `Question` is given together with an answer or options.
            UnknownNameError: there is no fact of such a uid.
        """
        return result(self.steps(question, answer, options, start, excluded))

    def steps(
        self,
        question: str | Question,
        answer: str = "",
        options: Sequence[str] = (),
        start: Sequence[str] = (),
        excluded: Collection[str] = (),
    ) -> Generator[Step, None, Explanation]:
        """The steps of `explain` as they are found; the explanation is the generator's return value."""
        asked = ask(question, answer, options)
        begun = perf_counter()
        found: Found = yield from self.ranker.search.steps(asked, self._ids(start), self._ids(excluded))
        return Explanation(found, self.dataset.facts, self.ranker.search.settings.longest, perf_counter() - begun)

    def explain_many(self, questions: Iterable[str | Question]) -> Iterator[Explanation]:
        """One explanation after the other, each as soon as it is found."""
        return map(self.explain, questions)

    def rank(self, question: str | Question, answer: str = "", options: Sequence[str] = ()) -> Ranking:
        """Every fact of the corpus, best first."""
        return self.ranking(self.explain(question, answer, options))

    def ranking(self, explanation: Explanation) -> Ranking:
        """Every fact, best first, for a question that is explained already: costs no second search."""
        return self.ranker.ranking(explanation.found)

    def _ids(self, uids: Collection[str]) -> tuple[int, ...]:
        ids = self.dataset.ids
        for uid in uids:
            if uid not in ids:
                raise UnknownNameError(f"fact of {self.dataset.name}", uid, ids)
        return tuple(dict.fromkeys(ids[uid] for uid in uids))


def load(
    model: str | Path | None = None,
    facts: str | Path | Dataset | Sequence[str] | None = None,
    settings: ChainSettings | None = None,
    distance: str = "tfidf",
) -> Explainer:
    """An explainer.

    Args:
        model: a model's folder, or its name on the Hugging Face hub; the packaged model unless given.
        facts: a dataset, its name or path, or the texts of facts; the packaged corpus unless given.
        settings: how chains are searched for.
        distance: the name of the distance that makes facts visible.

    Raises:
        InputError: the model or the facts cannot be read.
        UnknownNameError: there is no such dataset or distance.
        MissingExtraError: the model needs a library that is not installed.
    """
    measured = recipe(distance)
    dataset = _dataset(facts)
    folder = packaged_model() if model is None else model
    neighborhood = Neighborhood(dataset.facts, cached(measured, dataset.facts, dataset.splits.get("train", ())))
    scorer = load_scorer(folder, [fact.text for fact in dataset.facts])
    return Explainer(dataset, neighborhood, scorer, settings)


def packaged_model() -> Path:
    """The folder of the model that comes with arcf.

    Raises:
        InputError: this arcf has none.
    """
    folder = Path(str(files("arcf") / "model"))
    if not folder.is_dir():
        raise InputError("This arcf comes without a trained model; give a model's folder (--model DIR, or model=...).")
    return folder


def ask(question: str | Question, answer: str = "", options: Sequence[str] = ()) -> Question:
    """A question from its parts; see `Explainer.explain`."""
    if isinstance(question, Question):
        if answer or options:
            raise SettingError("A Question has its own answer and options; give them only with a question's text.")
        asked = question
    else:
        labelled = tuple(Option(_label(place), text.strip()) for place, text in enumerate(options))
        asked = Question("", question.strip(), labelled, _right(answer.strip(), labelled))
    if not asked.stem.strip():
        raise InputError("The question is empty; write what is to be explained.")
    return asked


def _right(answer: str, options: Sequence[Option]) -> str:
    """The text of the right option. A label is tried before a text, as in files of questions."""
    if not answer or not options:
        return answer
    by_text = {option.text.casefold(): option.text for option in options}
    by_label = {option.label.casefold(): option.text for option in options}
    known = by_text | by_label
    if answer.casefold() in known:
        return known[answer.casefold()]
    listed = ", ".join(f"({option.label}) {option.text}" for option in options)
    raise InputError(f"The answer '{answer}' is neither the letter nor the text of an option: {listed}.")


def _label(place: int) -> str:
    return ascii_uppercase[place] if place < len(ascii_uppercase) else str(place + 1)


def _dataset(facts: str | Path | Dataset | Sequence[str] | None) -> Dataset:
    if facts is None:
        return load_dataset()
    if isinstance(facts, Dataset):
        return facts
    if isinstance(facts, str | Path):
        return load_dataset(facts)
    return Dataset("facts", tuple(Fact(str(place), text) for place, text in enumerate(facts, start=1)))

"""The public face of arcf: load a model and facts once, then explain answers."""

from collections.abc import Collection, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from time import perf_counter

from arcf.chain import ChainSettings, SearchResult, result_of
from arcf.data.given import check_text, given_facts
from arcf.errors import InputError, SettingError, UnknownNameError
from arcf.explanation import Explanation
from arcf.rankers import Autoregressive, RankerSettings, build_autoregressive
from arcf.types import Dataset, Option, QueryForm, Question, RankedFact, Step


class Explainer:
    """Explains answers from one corpus with one model. Threads may share it.

    A question is a text, with its answer and, if there were any, its options; or a `Question`, which has its own. How
    chains are searched for can be changed for a single question (`settings`), without loading anything again.
    """

    def __init__(self, dataset: Dataset, ranker: Autoregressive, settings: ChainSettings | None = None) -> None:
        self.dataset = dataset
        self.ranker = ranker
        self.settings = settings or ranker.search.settings
        """How chains are searched for unless a call says otherwise."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dataset={self.dataset.name!r}, facts={len(self.dataset.facts)})"

    def with_settings(self, settings: ChainSettings) -> "Explainer":
        """An explainer with the same model and facts and other settings; costs nothing."""
        return self if settings == self.settings else Explainer(self.dataset, self.ranker.with_settings(settings))

    def explain(  # noqa: PLR0913 - one parameter per choice, by name
        self,
        question: str | Question,
        answer: str = "",
        options: Sequence[str] = (),
        start: Sequence[str] = (),
        excluded: Collection[str] = (),
        settings: ChainSettings | None = None,
        *,
        whole: bool = False,
    ) -> Explanation:
        """The chain of facts that explains the answer.

        Args:
            question: the question without its options.
            answer: its right answer; with options, the text or the letter (A, B, ...) of one of them.
            options: the texts of all options.
            start: uids of facts that the chain begins with.
            excluded: uids of facts that it must not use.
            settings: how the chain is searched for; the explainer's own unless given.
            whole: go on for the ranking's sake, which takes longer; instead of `settings.whole`.

        Raises:
            InputError: the question is empty, or the answer is none of the options.
            SettingError: a `Question` is given together with an answer or options, or a fact is both in `start` and in
                `excluded`.
            UnknownNameError: there is no fact of such a uid.
        """
        explainer = self.with_settings(replace(settings or self.settings, whole=whole))
        return result_of(explainer.steps(ask(question, answer, options), start, excluded))

    def steps(
        self, question: Question, start: Sequence[str] = (), excluded: Collection[str] = ()
    ) -> Generator[Step, None, Explanation]:
        """The steps of `explain` as they are found; the explanation is the generator's return value.

        With `settings.whole`, which those of a loaded explainer are not, the search goes on for the ranking's sake.

        Raises:
            InputError: the question is empty, or no question.
            SettingError: a fact is both in `start` and in `excluded`.
            UnknownNameError: there is no fact of such a uid.
        """
        begun, question = perf_counter(), ask(question)
        begin, without = self._ids(start), self._ids(excluded)
        if both := sorted(set(start).intersection(excluded)):
            raise SettingError(f"The fact '{both[0]}' is both one to begin with and one not to use.")
        ranker = self.ranker.with_settings(self.settings)
        found: SearchResult = yield from ranker.search.steps(question, begin, without)
        return Explanation(found, self.dataset, ranker, perf_counter() - begun, without)

    def rank(
        self,
        question: str | Question,
        answer: str = "",
        options: Sequence[str] = (),
        top_k: int | None = None,
        settings: ChainSettings | None = None,
    ) -> tuple[RankedFact, ...]:
        """The `top_k` best facts of the corpus, best first; all of them unless given. The chain's come first."""
        return self.explain(question, answer, options, settings=settings, whole=True).ranking(top_k)

    def _ids(self, uids: Collection[str]) -> tuple[int, ...]:
        ids = self.dataset.ids
        for uid in uids:
            if uid not in ids:
                raise UnknownNameError(f"fact of {self.dataset.name}", uid, ids)
        return tuple(dict.fromkeys(ids[uid] for uid in uids))


def load(  # noqa: PLR0913 - one parameter per choice, by name
    model: str | Path | None = None,
    facts: str | Path | Dataset | Sequence[str] | None = None,
    settings: ChainSettings | None = None,
    *,
    distance: str = "tfidf",
    query: QueryForm | None = None,
    device: str = "auto",
    threads: int | None = None,
) -> Explainer:
    """An explainer.

    Args:
        model: a model's folder, or its name on the Hugging Face hub; the packaged model unless given.
        facts: a dataset, its name or path, or the texts of facts; the packaged corpus unless given.
        settings: how chains are searched for.
        distance: the name of the distance that makes facts visible.
        query: the form in which questions are asked (answer, stem or options); as the model has learnt it unless given.
        device: where torch weights are run, as torch names it; auto: a GPU if there is one.
        threads: how many of the processor are used; all of them unless given.

    Raises:
        InputError: the model or the facts cannot be read.
        SettingError: a value that cannot be.
        UnknownNameError: there is no such dataset or distance.
        MissingExtraError: the model needs a library that is not installed.
    """
    described = RankerSettings(
        model=None if model is None else str(model),
        distance=distance,
        query=query,
        chain=settings or ChainSettings(),
        device=device,
        threads=threads,
    )
    return load_explainer(described, facts)


def load_explainer(settings: RankerSettings, facts: str | Path | Dataset | Sequence[str] | None = None) -> Explainer:
    """An explainer from the description of its ranker; see `load`.

    Raises:
        SettingError: the ranker is not one that explains.
    """
    if settings.kind != RankerSettings().kind:
        raise SettingError(f"The ranker {settings.kind} finds no chains; only arcf explains.")
    dataset = given_facts(facts)
    # A ranking is asked for by call: steps should take no longer than the explanation.
    return Explainer(dataset, build_autoregressive(settings, dataset), replace(settings.chain, whole=False))


def ask(question: str | Question, answer: str = "", options: Sequence[str] = ()) -> Question:
    """A question from its parts; see `Explainer.explain`."""
    if isinstance(question, Question):
        if answer or options:
            raise SettingError("A Question has its own answer and options; give them only with a question's text.")
        asked = question
    else:
        texts = [check_text(text, f"Option {_label(place)}").strip() for place, text in enumerate(options)]
        labelled = tuple(Option(_label(place), text) for place, text in enumerate(texts))
        right = _right(check_text(answer, "The answer").strip(), labelled)
        asked = Question("", check_text(question, "The question").strip(), labelled, right)
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

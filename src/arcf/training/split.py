"""Which questions of a dataset are learnt from, and what is held out: questions, and facts if wanted."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from arcf.data.sample import sample_questions
from arcf.errors import InputError
from arcf.training.settings import CorpusSettings
from arcf.types import Dataset, Question, number_texts


@dataclass(frozen=True, slots=True)
class Split:
    """The questions that are learnt, those of them that are held out, and the `new` ones that held-out facts explain.

    `shown` is the dataset as training sees it: without the held-out facts.
    """

    shown: Dataset
    learnt: tuple[Question, ...]
    held_out: tuple[Question, ...]
    new: tuple[Question, ...] = ()

    def without(self, hidden: Collection[str]) -> "Split":
        """The same without the facts of these uids, and without learning the questions that they explain."""
        facts = tuple(fact for fact in self.shown.facts if fact.uid not in hidden)
        learnt = tuple(own for own in self.learnt if not any(gold.uid in hidden for gold in own.gold))
        return replace(self, shown=replace(self.shown, facts=facts), learnt=learnt)


def all_questions(dataset: Dataset, settings: CorpusSettings) -> Split:
    """Learn from every question, with gold facts or without.

    Raises:
        InputError: there is none.
    """
    questions = dataset.split(settings.split)
    if not questions:
        raise InputError(f"has no question in the split {settings.split}.", dataset.name)
    return Split(shown=dataset, learnt=questions, held_out=())


def split_questions(dataset: Dataset, settings: CorpusSettings) -> Split:
    """Hold out questions and facts for validation: the same ones for every seed, so that runs can be compared.

    Raises:
        InputError: no question with gold facts is left to learn from.
    """
    questions = [question for question in dataset.split(settings.split) if dataset.gold_ids(question)]
    if len(questions) <= settings.held_out:
        raise InputError(
            f"has {len(questions)} questions with gold facts in the split {settings.split}, of which "
            f"{settings.held_out} are to be held out; nothing is left to learn from. {_advice(len(questions))}",
            dataset.name,
        )
    held_out = sample_questions(questions, settings.held_out)
    kept_back = {question.id for question in held_out}
    learnt = tuple(question for question in questions if question.id not in kept_back)
    split = Split(shown=dataset, learnt=learnt, held_out=held_out)
    return _hide_facts(split, settings.held_out_facts) if settings.held_out_facts else split


def _advice(questions: int) -> str:
    if not questions:
        return "Give questions with gold facts, or another split (data.split)."
    return f"Hold out fewer: --set data.held_out={questions // 5} (of several corpora, data.datasets.NAME.held_out)."


def _hide_facts(split: Split, count: int) -> Split:
    """Hold out so many facts of learnt explanations, and with them every learnt question that they explain.

    Facts of the same text are one. Those that the fewest learnt questions use come first, for the most to be left;
    among equals, chance decides.
    """
    dataset = split.shown
    texts = number_texts(dataset.facts)
    gold = [set(texts[list(dataset.gold_ids(question))].tolist()) for question in split.learnt]
    uses = Counter(text for own in gold for text in own)
    shuffled = np.random.default_rng(0).permutation(sorted(uses)).tolist()
    hidden = set(sorted(shuffled, key=lambda text: uses[text])[:count])
    pairs = list(zip(split.learnt, gold, strict=True))
    learnt = tuple(question for question, own in pairs if not own & hidden)
    if not learnt:
        raise InputError(
            f"has {len(uses)} facts in learnt explanations; without {count} of them, nothing is left to learn from.",
            dataset.name,
        )
    facts = tuple(fact for fact, text in zip(dataset.facts, texts.tolist(), strict=True) if text not in hidden)
    return Split(
        shown=replace(dataset, facts=facts),
        learnt=learnt,
        held_out=split.held_out,
        new=tuple(question for question, own in pairs if own & hidden),
    )

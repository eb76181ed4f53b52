"""The public face: what goes in, what comes out, and what is said about bad input."""

import copy
import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from arcf.chain import Calibration, ChainSettings, result_of
from arcf.errors import ArcfError, InputError, SettingError, UnknownNameError
from arcf.explainer import Explainer, ask, load, load_explainer
from arcf.neighborhood import make_neighborhood
from arcf.picture import html_page
from arcf.rankers import Autoregressive, RankerSettings
from arcf.scorer import STOP, Prefix, ScorerSettings
from arcf.types import Dataset, Fact, Gold, Question

FACTS = (
    "ice is a kind of solid",
    "melting means changing from a solid to a liquid",
    "water is a kind of liquid",
    "a heron is a kind of bird",
    "moss grows on stones",
)
QUESTION = "What turns ice to water?"


class InOrder:
    """Prefers facts in the order of the corpus; stopping is best after three."""

    settings = ScorerSettings()

    def __init__(self, facts: Sequence[str] = ()) -> None:
        self.facts = facts

    def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
        stop = 100.0 if len(prefix.facts) >= 3 else -100.0
        return np.where(candidates == STOP, stop, -candidates).astype(np.float32)


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arcf.rankers.registry.load_scorer", lambda _, facts, *__: InOrder(facts))


@pytest.fixture
def explainer() -> Explainer:
    return load("any", FACTS)


def test_a_chain_is_printed_with_scores_and_sources(explainer: Explainer) -> None:
    explanation = explainer.explain(QUESTION, answer="melting")
    assert str(explanation).splitlines() == [
        "What turns ice to water? -> melting",
        " 1.   0.00  ice is a kind of solid",
        "            from the question (ice)",
        " 2.  -1.00  melting means changing from a solid to a liquid",
        "            from the question (melting), 1 (solid)",
        " 3.  -2.00  water is a kind of liquid",
        "            from the question (water), 2 (liquid)",
        "stopped after 3 facts: stopping scores 100.00, the next fact scores -3.00",
    ]
    assert [fact.text for fact in explanation.facts] == list(FACTS[:3])


def test_a_notebook_shows_it_and_markdown_has_its_ranking(explainer: Explainer) -> None:
    gold = Question("q", QUESTION, answer="melting", gold=(Gold("2"), Gold("5")))
    explanation = explainer.explain(gold, start=["3"])
    account = explanation.account()
    assert [(line.text, line.worth, line.is_gold) for line in account.lines[:3]] == [
        (FACTS[2], "given", False),
        (FACTS[0], "0.00", False),
        (FACTS[1], "-1.00", True),
    ]
    assert account.closing[-1] == "✓ in the gold explanation: 1 of its 2 facts are in the chain"
    assert FACTS[1] in explanation._repr_html_()
    assert explanation.to_markdown(5).startswith(explanation.to_markdown())
    assert "5. moss grows on stones\n" in explanation.to_markdown(5)


def test_the_record_is_json_with_uids(explainer: Explainer) -> None:
    record = json.loads(json.dumps(explainer.explain(QUESTION, "melting").to_dict()))
    assert [fact["uid"] for fact in record["facts"]] == ["1", "2", "3"]
    assert record["facts"][1]["seen_from"] == [
        {"source": None, "words": ["melting"], "light": []},
        {"source": "1", "words": ["solid"], "light": []},
    ]
    assert record["facts"][1]["runners_up"][0] == {"uid": "3", "text": FACTS[2], "score": -2.0}
    assert (record["stopped"], record["stop_score"], record["considered"]) == (True, 100.0, 4)
    assert record["left_out"] == [{"uid": "4", "text": FACTS[3], "score": -3.0}]
    assert "id" not in record


@pytest.mark.parametrize(
    ("settings", "question", "ending"),
    [
        (ChainSettings(max_facts=1), QUESTION, "ended after 1 fact: no longer chain is allowed"),
        (ChainSettings(min_facts=9), "moss", "ended after 1 fact: no other fact is visible"),
        (ChainSettings(), "zebras", "no fact shares a word with the question"),
    ],
)
def test_the_end_of_a_chain_is_told(settings: ChainSettings, question: str, ending: str) -> None:
    assert load("any", FACTS, settings).explain(question).ending() == ending


def test_other_ends_of_an_empty_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    """That no fact shares a word is said only where none does."""
    doubtful = sure_of(0.1, monkeypatch).explain(QUESTION, settings=ChainSettings(runners_up=0))
    assert doubtful.ending() == "no good explanation found: the best fact belongs to it with 10%"
    shared = [fact.uid for fact in load("any", FACTS).rank(QUESTION)]
    assert load("any", FACTS).explain(QUESTION, excluded=shared).ending() == "no other fact is visible"


def test_a_chain_that_ends_in_doubt_has_ended_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said of chains that ended too early is true of these too."""
    chosen = sure_of(0.1, monkeypatch).ranker.rank(ask(QUESTION)).chosen
    assert chosen is not None
    assert (chosen.facts, chosen.stopped) == ((), True)


def test_what_is_given_is_not_counted_among_what_can_be_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    explainer = sure_of(0.4, monkeypatch)
    assert explainer.explain(QUESTION).closing()[0] == "40% of these facts can be expected to explain the answer"
    given = explainer.explain(QUESTION, start=["2"]).closing()[0]
    assert given == "40% of the facts that were chosen can be expected to explain the answer"


def test_what_cannot_be_asked(explainer: Explainer) -> None:
    with pytest.raises(SettingError, match=r"The number of facts \(top_k\) is at least 0, not -1"):
        explainer.rank(QUESTION, top_k=-1)
    with pytest.raises(SettingError, match="The fact '2' is both one to begin with and one not to use"):
        explainer.explain(QUESTION, start=["1", "2"], excluded=["2"])


def test_an_explanation_is_found_before_its_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    explainer = sure_of(0.1, monkeypatch)
    short, whole = (explainer.explain(QUESTION, excluded=["1"], whole=wanted) for wanted in (False, True))
    assert short.chain == whole.chain
    assert short.found.scorings < whole.found.scorings
    assert short.ranking() == whole.ranking()
    assert "1" not in [fact.uid for fact in short.ranking()[: len(whole.found.grown)]]


def test_a_ranking_begins_with_the_explanation(explainer: Explainer) -> None:
    ranked = explainer.rank(QUESTION, "melting")
    assert [fact.uid for fact in ranked] == ["1", "2", "3", "4", "5"]
    assert [fact.text for fact in ranked] == list(FACTS)
    assert explainer.explain(QUESTION, "melting").ranking() == ranked
    assert explainer.rank(QUESTION, "melting", top_k=2) == ranked[:2]


def test_settings_may_be_others_for_one_question(explainer: Explainer) -> None:
    short = ChainSettings(max_facts=1)
    assert len(explainer.explain(QUESTION, "melting", settings=short).facts) == 1
    assert len(explainer.explain(QUESTION, "melting").facts) == 3
    assert explainer.with_settings(short).settings == short
    assert explainer.with_settings(explainer.settings) is explainer


def test_a_question_may_be_asked_without_its_answer() -> None:
    prefixes: list[Prefix] = []

    class Listening(InOrder):
        def score(self, prefix: Prefix, candidates: NDArray[np.int64]) -> NDArray[np.float32]:
            prefixes.append(prefix)
            return super().score(prefix, candidates)

    neighborhood = make_neighborhood(Dataset("facts", tuple(Fact(text, text) for text in FACTS)))
    explanation = Explainer(
        Dataset("facts", neighborhood.facts), Autoregressive(Listening(), neighborhood, query="stem")
    ).explain(QUESTION, "melting")
    assert {prefix.query for prefix in prefixes} == {QUESTION}
    assert explanation.chain.question.answer == "melting"
    assert explanation.found.considered == 4  # by "ice" and "water", then by what they lead to


def test_steps_come_as_they_are_found(explainer: Explainer) -> None:
    steps = explainer.steps(ask(QUESTION, "melting"))
    assert [step.chosen.fact for step in steps] == [0, 1, 2]


def sure_of(chance: float, monkeypatch: pytest.MonkeyPatch) -> Explainer:
    """An explainer that gives every fact the same probability."""
    calibration = Calibration(math.log(chance / (1 - chance)), {})
    monkeypatch.setattr("arcf.rankers.registry.load_calibration", lambda _: calibration)
    return load("any", FACTS)


def test_probabilities_stand_where_scores_stood(monkeypatch: pytest.MonkeyPatch) -> None:
    explanation = sure_of(0.6, monkeypatch).explain(QUESTION, "melting")
    assert str(explanation).splitlines()[1] == " 1.    60%  ice is a kind of solid"
    record = explanation.to_dict()
    assert record["confidence"] == record["facts"][0]["confidence"] == pytest.approx(0.6)
    assert record["next_confidence"] == pytest.approx(0.6)
    assert (record["facts"][0]["score"], record["stopped"], record["unsure"]) == (0.0, True, False)


def test_no_good_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    explanation = sure_of(0.1, monkeypatch).explain(QUESTION, "melting")
    assert explanation.ending() == "no good explanation found: the best fact belongs to it with 10%"
    assert str(explanation).splitlines()[1:4] == [
        explanation.ending(),
        "the nearest facts:",
        "      0.00  ice is a kind of solid",
    ]
    assert html_page(explanation).count("The nearest facts") == 1
    assert (explanation.facts, explanation.confidence, explanation.to_dict()["unsure"]) == ((), None, True)
    assert len(explanation.ranking()) == len(FACTS)


def test_an_end_in_doubt_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    explanation = sure_of(0.1, monkeypatch).explain(QUESTION, "melting", settings=ChainSettings(min_facts=2))
    assert explanation.ending() == "ended after 2 facts: the next fact belongs to it with 10%"


def test_facts_may_be_given_and_excluded_by_uid(explainer: Explainer) -> None:
    explanation = explainer.explain(QUESTION, "melting", start=["3"], excluded=["1"])
    assert [fact.uid for fact in explanation.facts] == ["3", "2", "4"]
    assert " 1. (given) water is a kind of liquid" in str(explanation).splitlines()
    assert explanation.to_dict()["facts"][0] == {
        "uid": "3",
        "text": FACTS[2],
        "given": True,
        "seen_from": [{"source": None, "words": ["water"], "light": []}],
    }
    with pytest.raises(UnknownNameError, match="fact of facts named '9'"):
        explainer.explain(QUESTION, start=["9"])


def test_threads_may_share_it(explainer: Explainer) -> None:
    questions = ["ice", "moss", "liquid", QUESTION] * 20
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda question: explainer.explain(question).chain, questions))
    assert found == [explainer.explain(question).chain for question in questions]


@pytest.mark.parametrize("answer", ["B", "b", "melting", "Melting "])
def test_the_right_option_by_letter_or_text(answer: str) -> None:
    asked = ask(QUESTION, answer, ["freezing", "melting"])
    assert asked.answer == "melting"
    assert [(option.label, option.text) for option in asked.options] == [("A", "freezing"), ("B", "melting")]


def test_wrong_answers_and_empty_questions() -> None:
    with pytest.raises(InputError, match=r"'C' is neither .* \(A\) freezing, \(B\) melting"):
        ask(QUESTION, "C", ["freezing", "melting"])
    for empty in ("", "  \n", Question("q", " ")):
        with pytest.raises(InputError, match="The question is empty"):
            ask(empty)
    with pytest.raises(SettingError, match="its own answer"):
        ask(Question("q", "ice"), "melting")


@pytest.mark.parametrize("k", [1, 10**9])
def test_a_small_corpus_and_large_neighborhoods(k: int) -> None:
    explainer = load("any", FACTS[:1], ChainSettings(k=k))
    assert len(explainer.explain("ice", answer="").facts) == 1
    assert len(explainer.rank("ice")) == 1


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [([], "There are no facts"), (["ice", 7], "Fact 2 should be text"), (7, "Facts should be a list of texts")],
)
def test_facts_of_another_form(facts: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        load("any", facts)


def test_what_is_asked_is_text(explainer: Explainer) -> None:
    with pytest.raises(InputError, match="The question should be text, found int"):
        explainer.explain(7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="The answer is not proper text: character 4 is half of one"):
        explainer.explain(QUESTION, "caf\udce9")
    with pytest.raises(InputError, match="Option B should be text, found NoneType"):
        explainer.explain(QUESTION, "A", ["ice", None])  # type: ignore[list-item]


def test_a_printed_chain_shows_text_as_text() -> None:
    printed = str(load("any", ["ice \x1b[2J melts", f"ice {'x' * 100_000}"]).explain("ice\x9b2J"))
    assert "ice \ufffd[2J melts" in printed
    assert not set("\x1b\x9b") & set(printed)
    assert len(printed) < 10_000


def test_facts_come_from_anywhere(tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    file.write_text("".join(json.dumps({"uid": f"u{place}", "text": text}) + "\n" for place, text in enumerate(FACTS)))
    dataset = Dataset("mine", tuple(Fact(f"u{place}", text) for place, text in enumerate(FACTS)))
    for facts in (file, str(file), dataset):
        assert [fact.uid for fact in load("any", facts).explain(QUESTION, "melting").facts] == ["u0", "u1", "u2"]
    assert load("any").dataset.name == "science"


def test_without_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("arcf.scorer.loading.files", lambda _: tmp_path)
    with pytest.raises(ArcfError, match="give a model's folder"):
        load()
    (tmp_path / "packaged").mkdir()
    assert load().explain("ice").facts


def test_only_chains_explain() -> None:
    with pytest.raises(SettingError, match="The ranker bm25 finds no chains"):
        load_explainer(RankerSettings("bm25"), FACTS)


def test_unknown_distance() -> None:
    with pytest.raises(UnknownNameError, match="distance"):
        load("any", FACTS, distance="euclid")


def test_steps_take_no_longer_than_the_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    explainer = sure_of(0.1, monkeypatch)
    found = result_of(explainer.steps(ask(QUESTION)))
    assert found.found.scorings == explainer.explain(QUESTION).found.scorings
    asked = explainer.with_settings(replace(explainer.settings, whole=True))
    whole = result_of(asked.steps(ask(QUESTION)))
    assert whole.found.scorings == explainer.explain(QUESTION, whole=True).found.scorings > found.found.scorings
    assert found.ranking() == whole.ranking()


@pytest.mark.parametrize("question", ["", Question("q", " "), 7])
def test_steps_of_no_question(explainer: Explainer, question: Any) -> None:
    with pytest.raises(InputError, match="The question"):
        next(explainer.steps(question))


def test_they_say_in_short_what_they_are(explainer: Explainer) -> None:
    assert repr(explainer) == "Explainer(dataset='facts', facts=5)"
    explanation = explainer.explain(QUESTION, "melting")
    shown = f"Explanation(question='{QUESTION} (answer) melting', facts=['1', '2', '3'], confidence=None)"
    assert repr(explanation) == shown
    assert copy.deepcopy([explanation]) == [explanation]

"""What the official scorer does in every odd case, and what arcf says about runs that fit badly."""

import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import ArcfWarning, InputError, UnknownNameError
from arcf.evaluation.judgement import judge, judge_ranking
from arcf.evaluation.report import evaluate
from arcf.runs.files import Run
from arcf.types import Dataset, Fact, Gold, Question

UIDS = ("a", "b", "c", "d", "e")


def question(name: str, gold: str, flags: str = "SUCCESS") -> Question:
    return Question(name, "Why?", gold=tuple(Gold(uid, "CENTRAL") for uid in gold.split()), flags=flags)


def dataset(*questions: Question, **splits: tuple[Question, ...]) -> Dataset:
    return Dataset("tiny", tuple(Fact(uid, f"fact {uid}") for uid in UIDS), {"dev": questions, **splits})


def run(**rankings: str) -> Run:
    return Run("mine", {name: tuple(ranking.split()) for name, ranking in rankings.items()})


class TestOfficialScorer:
    def test_ids_and_uids_are_compared_in_lower_case(self) -> None:
        result = evaluate(run(Q1="A B"), dataset(question("q1", "b")), "dev")
        assert result.map_official == 1 / 2
        assert evaluate(run(q1="b"), dataset(question("Q1", "B")), "dev").map_official == 1

    def test_of_ids_that_differ_in_case_the_last_one_sorted_counts(self) -> None:
        """The scorer groups lines by id, sorted, and keeps the last of those that are one in lower case."""
        for order in (("Q1", "q1"), ("q1", "Q1")):
            rankings = {"Q1": "a b", "q1": "b a"}
            result = evaluate(run(**{name: rankings[name] for name in order}), dataset(question("Q1", "a")), "dev")
            assert result.map_official == 1 / 2

    @pytest.mark.parametrize(
        ("flags", "counts"),
        [
            ("SUCCESS", True),
            ("ready", True),
            ("Ready", True),
            ("SUCCESS READY", False),
            ("success ", False),
            ("", False),
            ("other", False),
        ],
    )
    def test_counts_questions_with_the_right_flags_alone(self, flags: str, counts: bool) -> None:
        questions = question("q1", "a", flags), question("q2", "a")
        result = evaluate(run(q1="b a", q2="a"), dataset(*questions), "dev")
        assert result.questions_official == 1 + counts
        assert result.map_official == (0.75 if counts else 1)
        assert (result.questions_all, result.map_all) == (2, 0.75)

    def test_a_gold_uid_annotated_twice_counts_twice_and_is_found_once(self) -> None:
        # Gold a, a, b (divisor 3); a at rank 1, b at rank 3: (1/1 + 2/3) / 3.
        result = evaluate(run(q1="a c b"), dataset(question("q1", "a a b")), "dev")
        assert result.map_official == pytest.approx(5 / 9)

    def test_a_prediction_repeated_takes_up_no_rank(self) -> None:
        # Also when the repetitions differ in case: b, B, a is b, a.
        assert evaluate(run(q1="b B a"), dataset(question("q1", "a")), "dev").map_official == 1 / 2

    def test_gold_that_exists_nowhere_still_divides(self) -> None:
        assert evaluate(run(q1="a"), dataset(question("q1", "a nowhere")), "dev").map_official == 1 / 2

    def test_a_question_without_predictions_counts_0(self) -> None:
        with pytest.warns(ArcfWarning, match="1 of 2 questions"):
            result = evaluate(run(q1="a"), dataset(question("q1", "a"), question("q2", "a")), "dev")
        assert (result.map_official, result.questions_official) == (1 / 2, 2)

    def test_a_question_without_gold_does_not_count(self) -> None:
        result = evaluate(run(q1="a", q2="b"), dataset(question("q1", "a"), question("q2", "")), "dev")
        assert (result.map_official, result.questions_official, result.questions_all) == (1, 1, 1)

    def test_without_flags_there_is_no_official_figure(self) -> None:
        result = evaluate(run(q1="a"), dataset(question("q1", "a", flags="")), "dev")
        assert (result.map_official, result.questions_official, result.map_all) == (None, 0, 1)


class TestRuleOf2019:
    def test_a_missing_gold_fact_zeroes_the_question(self) -> None:
        result = evaluate(run(q1="a c", q2="c a b"), dataset(question("q1", "a b"), question("q2", "a b")), "dev")
        assert result.map_2019 == pytest.approx((0 + (1 / 2 + 2 / 3) / 2) / 2)
        assert result.map_all == pytest.approx((1 / 2 + (1 / 2 + 2 / 3) / 2) / 2)

    @pytest.mark.filterwarnings("ignore::arcf.errors.ArcfWarning")
    def test_questions_that_the_run_lacks_are_left_out(self) -> None:
        result = evaluate(run(q1="b a"), dataset(question("q1", "a"), question("q2", "a")), "dev")
        assert (result.map_2019, result.questions_2019) == (1 / 2, 1)

    def test_a_gold_uid_annotated_twice_counts_once(self) -> None:
        assert evaluate(run(q1="a b"), dataset(question("q1", "a a b")), "dev").map_2019 == 1

    def test_ids_are_compared_as_they_are_written(self) -> None:
        result = evaluate(run(Q1="a b", q1="b a", q2="a"), dataset(question("Q1", "a"), question("Q2", "a")), "dev")
        assert (result.map_2019, result.questions_2019) == (1, 1)
        assert result.map_official == (1 / 2 + 1) / 2

    @pytest.mark.filterwarnings("ignore::arcf.errors.ArcfWarning")
    def test_does_not_exist_without_a_predicted_question(self) -> None:
        result = evaluate(run(q2="b"), dataset(question("q1", "a"), question("q2", "")), "dev")
        assert (result.map_2019, result.map_all) == (None, 0)


def official_restated(questions: list[Question], lines: list[tuple[str, str]]) -> float:
    """The official rule once more, slowly, from the lines of a predict.txt."""
    total, count = 0.0, 0
    for entry in questions:
        if entry.flags.lower() != "success" and entry.flags.lower() != "ready":
            continue
        if len(entry.gold) == 0:
            continue
        count += 1
        seen: list[str] = []
        counted = max([name for name, _ in lines if name.lower() == entry.id.lower()], default="")
        for name, uid in lines:
            if name == counted and uid.lower() not in seen:
                seen.append(uid.lower())
        hits = 0
        summed = 0.0
        for index in range(len(seen)):
            if seen[index] in [gold.uid.lower() for gold in entry.gold]:
                hits += 1
                summed += hits / (index + 1)
        total += summed / len(entry.gold)
    return total / count


@pytest.mark.filterwarnings("ignore::arcf.errors.ArcfWarning")
@given(st.data())
def test_equal_to_the_official_rule_restated(data: st.DataObject) -> None:
    uids = st.sampled_from([*UIDS, "A", "B", "nowhere"])
    flags = st.sampled_from(["SUCCESS", "ready", "READY", "success ready", ""])
    golds = data.draw(st.lists(st.tuples(st.lists(uids, max_size=5), flags), max_size=5))
    questions = [question("Q0", "a"), *(question(f"Q{n}", " ".join(g), f) for n, (g, f) in enumerate(golds, 1))]
    names = st.sampled_from([entry.id for entry in questions])
    lines = [("Q0", "b"), *data.draw(st.lists(st.tuples(names, uids), max_size=40))]
    lines = [(name.lower() if data.draw(st.booleans()) else name, uid) for name, uid in lines]
    rankings: dict[str, tuple[str, ...]] = {}
    for name, uid in lines:
        rankings[name] = (*rankings.get(name, ()), uid)
    result = evaluate(Run("random", rankings), dataset(*questions), "dev")
    assert result.map_official == pytest.approx(official_restated(questions, lines))


class TestWarnings:
    def test_unknown_questions(self) -> None:
        with pytest.warns(ArcfWarning, match="1 of 2 question ids are not in the split 'dev' of tiny.*'Q9'"):
            judge(run(q1="a", Q9="a"), dataset(question("q1", "a")), "dev")

    def test_unknown_uids(self) -> None:
        with pytest.warns(ArcfWarning, match="2 of 3 uids are no fact of tiny, for example 'X'"):
            judge(run(q1="a X y"), dataset(question("q1", "a")), "dev")

    def test_missing_questions(self) -> None:
        with pytest.warns(ArcfWarning, match="1 of 2 questions of the split 'dev' of tiny are missing.*'Q2'"):
            judge(run(q1="a"), dataset(question("q1", "a"), question("Q2", "a"), question("q3", "")), "dev")

    def test_a_fitting_run_is_met_with_silence(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            judge(run(q1="A b"), dataset(question("Q1", "a")), "dev")


class TestBadInput:
    def test_no_known_question(self) -> None:
        with pytest.raises(InputError, match="'mine' has no question of the split 'dev' of tiny"):
            judge(run(x="a"), dataset(question("q1", "a")), "dev")

    def test_an_empty_run(self) -> None:
        with pytest.raises(InputError, match="'mine' has no ranking; give one of the questions of the split 'dev'"):
            evaluate(run(), dataset(question("q1", "a")), "dev")

    def test_a_question_without_gold(self) -> None:
        with pytest.raises(InputError, match="question 'q1' has no gold facts"):
            judge_ranking(question("q1", ""), ["a"])

    def test_no_gold_names_the_splits_that_have_some(self) -> None:
        masked = dataset(question("q1", "a"), test=(question("q1", ""),))
        with pytest.raises(InputError, match=r"'test' of tiny has no gold facts.*choose one of: dev"):
            judge(run(q1="a"), masked, "test")

    def test_unknown_split(self) -> None:
        with pytest.raises(UnknownNameError, match="split of tiny"):
            judge(run(q1="a"), dataset(question("q1", "a")), "train")

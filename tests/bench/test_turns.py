"""Ways that take turns."""

import pytest

from arcf.bench import turns
from arcf.types import Question

QUESTIONS = [Question(str(number), "Why?") for number in range(3)]


def test_ways_take_turns_and_the_first_question_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(turns, "perf_counter", lambda: clock[0])

    def way(name: str, first: float, usual: float) -> turns.Way:
        def ask(question: Question) -> None:
            asked.append((name, question.id))
            clock[0] += first if question.id == "0" else usual

        return ask

    found = turns.seconds_in_turns({"slow": way("slow", 100.0, 3.0), "fast": way("fast", 50.0, 1.0)}, QUESTIONS)
    assert found == {"slow": 3.0, "fast": 1.0}
    assert asked == [(name, question.id) for question in QUESTIONS for name in ("slow", "fast")]

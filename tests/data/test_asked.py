import pytest

from arcf.data.asked import FORMATS, read_asked
from arcf.errors import InputError
from arcf.types import Gold, Option, Question

ICE, FIRE = Option("A", "ice"), Option("B", "fire")


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (
            "q.jsonl",
            '{"id": "q1", "question": "What melts?", "options": ["ice", "fire"], "answer": "A", "gold": ["u1"]}',
        ),
        ("q.csv", "ID,Question,Answer,Options,gold\nq1,What melts?,A,ice | fire,u1\n"),
        ("q.csv", 'id,stem,answer,gold\nq1,"What melts? (A) ice (B) fire",ice,u1\n'),
        ("q.tsv", "gold\tid\tquestion\tanswer\nu1\tq1\tWhat melts? (1) ice (2) fire\tA\n"),
    ],
)
def test_every_format_says_the_same(place: str, text: str) -> None:
    assert read_asked(text, place) == (Question("q1", "What melts?", (ICE, FIRE), "ice", gold=(Gold("u1"),)),)


def test_plain_lines_with_answers_and_options() -> None:
    text = "What melts?\r\n\n  Où neige-t-il? (answer) 雪 \nWhat melts? (A) ice (B) fire (answer) a\n"
    assert read_asked(text, "standard input") == (
        Question("line-1", "What melts?"),
        Question("line-3", "Où neige-t-il?", answer="雪"),
        Question("line-4", "What melts?", (ICE, FIRE), "ice"),
    )


@pytest.mark.parametrize("answer", ["a", "(A)", "1", "(1)", "ice", " ICE "])
@pytest.mark.parametrize("printed", ["(A) ice (B) fire", "(1) ice (2) fire"])
@pytest.mark.parametrize("mark", ["(answer)", "(Answer)", "(ANSWER)"])
def test_the_answer_to_printed_options(answer: str, printed: str, mark: str) -> None:
    text = f"What melts? {printed} {mark} {answer}\n"
    assert read_asked(text, "x.txt") == (Question("line-1", "What melts?", (ICE, FIRE), "ice"),)


@pytest.mark.parametrize(
    ("printed", "answer", "right"),
    [
        ("(A) 3 (B) 4", "3", "3"),
        ("(A) 2 (B) 1", "2", "2"),
        ("(A) 2 (B) 1", "b", "1"),
        ("(1) 2 (2) 1", "2", "1"),
        ("(A) b (B) a", "B", "a"),
    ],
)
def test_numbers_are_labels_or_texts(printed: str, answer: str, right: str) -> None:
    assert read_asked(f"How many? {printed} (answer) {answer}", "x.txt")[0].answer == right


def test_a_label_that_no_option_has_is_named_as_it_was_written() -> None:
    with pytest.raises(InputError, match="answer '5' is neither the label nor the text of an option"):
        read_asked("How many? (A) one (B) two (answer) 5", "x.txt")


def test_the_last_mark_counts() -> None:
    assert read_asked("What is an (Answer) here? (answer) this", "x.txt") == (
        Question("line-1", "What is an (Answer) here?", answer="this"),
    )


def test_a_pipe_that_begins_with_a_brace_is_json_lines() -> None:
    assert read_asked('\n {"question": "What melts?"}', "/dev/fd/63") == (Question("line-2", "What melts?"),)


@pytest.mark.parametrize(
    ("place", "text", "message"),
    [
        *((f"q{suffix}", "", f"q{suffix}: holds no question") for suffix in FORMATS),
        ("q.csv", "question\n", "q.csv: holds no question"),
        ("q.pdf", "x", "q.pdf: is no file of questions; its name should end in one of .jsonl, .csv, .tsv, .txt"),
        ("q.csv", "text,answer\nx,y\n", "q.csv:1: has no column 'question' or 'stem'"),
        ("q.csv", "question;answer\nx;y\n", "q.csv:1: is separated by semicolons"),
        ("q.csv", "question,options,answer\nx,a | b,c\n", "q.csv:2: answer 'c' is neither"),
        ("q.csv", "id,question\nq1,\n", "q.csv:2: has no 'stem' or 'question'"),
        ("q.txt", "(answer) ice\n", "q.txt:1: has no 'stem' or 'question'"),
        ("q.jsonl", '{"question": 1.5}', "q.jsonl:1: 'question' should be text"),
        (
            "q.jsonl",
            '{"id": 1, "question": "a"}\n{"id": "1", "question": "b"}',
            "q.jsonl:2: repeats the question id '1'",
        ),
    ],
)
def test_what_is_wrong_is_named(place: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        read_asked(text, place)
    assert message in str(error.value)

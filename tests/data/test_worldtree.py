import csv
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from arcf.data import data_directory, load
from arcf.data.choices import letter
from arcf.errors import ArcfWarning, InputError
from arcf.types import Dataset, Fact, Gold, Option, Question

Make = Callable[[int], Path]


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("year", [2019, 2020])
def test_facts_are_the_cells_in_table_order(worldtree_like: Make, year: int) -> None:
    assert load(worldtree_like(year)).facts == (
        Fact("aaaa-0006", "moss grows", "ACTION-SLOW", "moss grows"),
        Fact("aaaa-0004", "herons can wade far", "ACTION", "herons wade far"),
        Fact("aaaa-0005", "the can", "ACTION", "the can"),
        Fact("aaaa-0001", "a heron is a kind of bird", "KINDOF", "heron bird"),
        Fact("aaaa-0002", "birds are a kind of animal", "KINDOF", "birds animal"),
    )


def test_questions_of_2020(worldtree_like: Make) -> None:
    dataset = load(worldtree_like(2020))
    assert list(dataset.splits) == ["train", "dev", "test"]
    assert dataset.split("dev") == (
        Question(
            id="Q_Dev",
            stem="Which one wades in Dev?",
            options=(Option("A", "a heron"), Option("B", "moss")),
            answer="a heron",
            difficulty="Easy",
            gold=(Gold("aaaa-0001", "CENTRAL"), Gold("aaaa-0004", "ROLE")),
            flags="SUCCESS",
        ),
    )
    assert dataset.split("test")[0].gold == ()
    assert dataset.split("dev")[0].query() == "Which one wades in Dev? (answer) a heron"


def test_questions_of_2019(worldtree_like: Make) -> None:
    dataset = load(worldtree_like(2019))
    assert list(dataset.splits) == ["train", "dev", "test"]
    (question,) = dataset.split("train")
    assert (question.answer, question.difficulty, question.flags) == ("a heron", "Challenge", "READY")
    assert dataset.split("test")[0].gold == ()


def test_the_full_test_file_goes_before_the_masked_one(worldtree_like: Make) -> None:
    root = worldtree_like(2019)
    masked = root / "questions" / "ARC-Elementary+EXPL-Test-Masked.tsv"
    full = masked.with_name("ARC-Elementary+EXPL-Test.tsv")
    full.write_text(masked.read_text(encoding="utf-8").replace("\t\tREADY", "\taaaa-0001|CENTRAL\tREADY"))
    assert load(root).split("test")[0].gold == (Gold("aaaa-0001", "CENTRAL"),)


@pytest.mark.parametrize("year", [2019, 2020])
@pytest.mark.parametrize("top", ["", "release/"])
@pytest.mark.parametrize("inside", [False, True])
def test_packed_and_unpacked_read_the_same(
    worldtree_like: Make, pack: Callable[..., Path], tmp_path: Path, year: int, top: str, inside: bool
) -> None:
    root = worldtree_like(year)
    archive = pack(root, tmp_path / "download" / "release.zip", top)
    packed = load(archive.parent if inside else archive)
    unpacked = load(root)
    assert packed.facts == unpacked.facts
    assert packed.splits == unpacked.splits


def test_one_folder_deeper(worldtree_like: Make, tmp_path: Path) -> None:
    root = worldtree_like(2020)
    deeper = tmp_path / "outer" / "inner"
    deeper.parent.mkdir()
    root.rename(deeper)
    assert len(load(deeper.parent).facts) == 5


def test_the_last_of_a_repeated_uid_wins_in_the_firsts_position(worldtree_like: Make) -> None:
    root = worldtree_like(2020)
    change(root / "tables" / "KINDOF.tsv", "aaaa-0002", "aaaa-0006")
    with pytest.warns(ArcfWarning, match="made-up-2020: 1 facts have the uid of an earlier one") as caught:
        dataset = load(root)
    assert len(caught) == 1
    assert dataset.facts[0] == Fact("aaaa-0006", "birds are a kind of animal", "KINDOF", "birds animal")
    assert len(dataset.facts) == 4


def test_gold_of_no_table_is_kept_with_one_warning(worldtree_like: Make) -> None:
    root = worldtree_like(2020)
    change(root / "questions.train.tsv", "aaaa-0001", "dead-0001")
    change(root / "questions.dev.tsv", "aaaa-0001", "dead-0002")
    with pytest.warns(ArcfWarning, match=r"2 gold uids belong to no fact \(dead-0001, dead-0002\)") as caught:
        dataset = load(root)
    assert len(caught) == 1
    (question,) = dataset.split("train")
    assert [gold.uid for gold in question.gold] == ["dead-0001", "aaaa-0004"]
    assert dataset.gold_ids(question) == (1,)


def test_numbers_as_labels_and_key(worldtree_like: Make) -> None:
    root = worldtree_like(2020)
    change(root / "questions.dev.tsv", "(A) a heron (B) moss", "(1) a heron (2) moss")
    change(root / "questions.dev.tsv", "\tA\t", "\t2\t")
    (question,) = load(root).split("dev")
    assert question.answer == "moss"
    assert question.options == (Option("A", "a heron"), Option("B", "moss"))


@pytest.mark.parametrize(("old", "new"), [("\tA\t", "\tE\t"), ("(B) moss", ""), ("\tA\t", "\t\t")])
def test_a_question_whose_answer_is_not_among_its_options(worldtree_like: Make, old: str, new: str) -> None:
    root = worldtree_like(2020)
    change(root / "questions.dev.tsv", old, new)
    with pytest.warns(ArcfWarning, match="1 questions have no option for their answer key"):
        (question,) = load(root).split("dev")
    assert question.answer == ""
    assert question.query() == question.stem


def test_quoted_questions_lose_their_quotes(worldtree_like: Make) -> None:
    root = worldtree_like(2020)
    text = "Which one wades in Dev? (A) a heron (B) moss"
    change(root / "questions.dev.tsv", text, '"Which ""bird"" wades? (A) a heron (B) ""moss"""')
    (question,) = load(root).split("dev")
    assert question.stem == 'Which "bird" wades?'
    assert question.options[1].text == '"moss"'


def test_repeated_gold_and_gold_without_role_stay_as_annotated(worldtree_like: Make) -> None:
    root = worldtree_like(2020)
    change(root / "questions.dev.tsv", "aaaa-0004|ROLE", "aaaa-0001|NEG aaaa-0004")
    dataset = load(root)
    (question,) = dataset.split("dev")
    assert question.gold == (Gold("aaaa-0001", "CENTRAL"), Gold("aaaa-0001", "NEG"), Gold("aaaa-0004"))
    assert dataset.gold_ids(question) == (3, 1)


def test_flags_and_difficulty_may_be_missing_and_an_empty_table_is_none(worldtree_like: Make) -> None:
    root = worldtree_like(2020)
    change(root / "questions.dev.tsv", "\tflags\tarcset", "\tremarks\tmore")
    (root / "tables" / "EMPTY.tsv").write_text("\n")
    (question,) = load(root).split("dev")
    assert (question.flags, question.difficulty) == ("", "")


@pytest.mark.parametrize(
    ("file", "old", "new", "complaint"),
    [
        ("tables/KINDOF.tsv", "[SKIP] UID", "[SKIP] NUMBER", r"KINDOF\.tsv:1: has no column '\[SKIP\] UID'"),
        ("questions.dev.tsv", "explanation", "why", r"questions\.dev\.tsv:1: has no column 'explanation'"),
        ("questions.dev.tsv", "AnswerKey", "key", r"questions\.dev\.tsv:1: has no column 'AnswerKey'"),
        ("questions.dev.tsv", "Q_Dev", "", r"questions\.dev\.tsv:2: has no question id"),
        ("questions.dev.tsv", "\tEasy", "\tEasy\tmore", r"questions\.dev\.tsv:2: has 7 cells"),
    ],
)
def test_bad_files_are_named_with_their_line(
    worldtree_like: Make, file: str, old: str, new: str, complaint: str
) -> None:
    root = worldtree_like(2020)
    change(root / file, old, new)
    with pytest.raises(InputError, match=complaint):
        load(root)


def test_a_repeated_question_names_both_lines(worldtree_like: Make) -> None:
    path = worldtree_like(2020) / "questions.dev.tsv"
    path.write_text(path.read_text() + path.read_text().splitlines()[1] + "\n")
    with pytest.raises(InputError, match=r"questions\.dev\.tsv:3: repeats the question id 'Q_Dev' of line 2"):
        load(path.parent)


def test_half_a_dataset_says_which_half_is_missing(worldtree_like: Make, tmp_path: Path) -> None:
    root = worldtree_like(2020)
    (root / "tables").rename(tmp_path / "away")
    with pytest.raises(InputError, match="no tables of facts"):
        load(root)
    for path in root.iterdir():
        path.unlink()
    (tmp_path / "away").rename(root / "tables")
    with pytest.raises(InputError, match="no questions"):
        load(root)


def test_tables_without_any_fact_are_refused(worldtree_like: Make) -> None:
    root = worldtree_like(2020)
    for path in (root / "tables").iterdir():
        path.write_text("WHAT\t[SKIP] UID\n")
    with pytest.raises(InputError, match="holds no facts"):
        load(root)


@pytest.mark.worldtree
class TestRealData:
    def test_counts_of_2020(self, worldtree_2020: Dataset) -> None:
        sizes = {split: len(questions) for split, questions in worldtree_2020.splits.items()}
        gold = {split: sum(bool(question.gold) for question in worldtree_2020.split(split)) for split in sizes}
        assert len(worldtree_2020.facts) == 9_720
        assert sizes == {"train": 2_207, "dev": 496, "test": 1_664}
        assert gold == {"train": 2_206, "dev": 496, "test": 0}

    def test_the_official_scorer_keeps_410_dev_questions(self, worldtree_2020: Dataset) -> None:
        kept = [question for question in worldtree_2020.split("dev") if question.flags.lower() in ("success", "ready")]
        assert len(kept) == 410

    def test_counts_of_2019(self, worldtree_2019: Dataset) -> None:
        sizes = {split: len(questions) for split, questions in worldtree_2019.splits.items()}
        assert len(worldtree_2019.facts) == 4_947
        assert sizes == {"train": 1_190, "dev": 264, "test": 1_247}

    def test_every_question_has_an_answer_and_few_have_other_than_four_options(
        self, worldtree_2020: Dataset, worldtree_2019: Dataset
    ) -> None:
        for dataset, expected in ((worldtree_2020, {4: 4_348, 3: 11, 5: 8}), (worldtree_2019, {4: 2_679, 3: 19, 5: 3})):
            questions = [question for split in dataset.splits.values() for question in split]
            assert all(question.answer and question.stem for question in questions)
            assert Counter(len(question.options) for question in questions) == expected

    def test_2020_warns_once_about_7_repeated_uids(self, worldtree_2020: Dataset) -> None:
        with pytest.warns(ArcfWarning, match="7 facts have the uid") as caught:
            load(worldtree_2020.name)
        assert len(caught) == 1

    def test_2019_warns_once_about_2_unknown_gold_uids(self, worldtree_2019: Dataset) -> None:
        expected = r"2 gold uids belong to no fact \(5124-b03e-ff20-b4d6, f3bd-0290-ae95-8e0a\)"
        with pytest.warns(ArcfWarning, match=expected) as caught:
            load(worldtree_2019.name)
        assert len(caught) == 1

    def test_loading_is_quick(self, worldtree_2020: Dataset) -> None:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ArcfWarning)
            load(worldtree_2020.name)
        assert time.perf_counter() - start < 3

    def test_questions_read_as_with_pythons_csv(self, worldtree_2020: Dataset) -> None:
        """The official scorer reads quotes as csv and pandas do; a plainer reading of ours must come to the same."""
        archives = sorted((data_directory() / worldtree_2020.name).glob("*.zip"))
        if not archives:
            pytest.skip("installed unpacked; the archive is compared")
        with zipfile.ZipFile(archives[0]) as archive:
            lines = archive.read("questions.train.tsv").decode().splitlines()
        rows = list(csv.DictReader(lines, delimiter="\t"))
        for row, question in zip(rows, worldtree_2020.split("train"), strict=True):
            stem, mark, _ = row["question"].rpartition("(A)")
            if mark:
                assert question.stem == " ".join(stem.split())
            assert row["QuestionID"] == question.id
            assert [gold.uid for gold in question.gold] == [pair.split("|")[0] for pair in row["explanation"].split()]
            right = next(option for option in question.options if option.label == letter(row["AnswerKey"]))
            assert question.answer == right.text

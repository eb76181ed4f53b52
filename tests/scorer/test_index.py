"""Indexes on disk: found for the same model and facts only, and never believed when they are not whole."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arcf.errors import ArcfWarning, InputError
from arcf.kept.arrays import read_arrays
from arcf.kept.folder import Entry
from arcf.progress import listening
from arcf.scorer import STOP, Prefix, ScorerSettings, load_scorer
from arcf.scorer.export import export
from arcf.scorer.index import fingerprint, index_path
from arcf.scorer.indexing import index_corpus
from arcf.scorer.kept import KeptStates
from arcf.scorer.loading import load_network
from arcf.scorer.network.backbone import Backbone
from arcf.scorer.ragged import Ragged
from arcf.types import Dataset, Fact

PREFIX = Prefix("What is ice (answer) a solid.", (1, 3))
IDS = np.array([4, STOP, 0, 6, 2, 4])
LATE = ScorerSettings("late", similarity=2.0, read_ahead=2)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the user's."""
    monkeypatch.setenv("ARCF_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "arcf-cache"


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Facts that are read by a model when they are scored."""
    facts: list[int] = []
    keep = KeptStates._keep

    def counted(kept: KeptStates, missing: np.ndarray) -> dict[int, np.ndarray]:
        facts.extend(missing.tolist())
        return keep(kept, missing)

    monkeypatch.setattr(KeptStates, "_keep", counted)
    return facts


@pytest.fixture(params=["torch", "fp32", "int8"])
def model(request: pytest.FixtureRequest, tiny: Callable[..., Backbone], tmp_path: Path) -> Path:
    return save(tiny("bert"), tmp_path / "model", request.param)


@pytest.fixture
def torch_model(tiny: Callable[..., Backbone], tmp_path: Path) -> Path:
    return save(tiny("bert"), tmp_path / "model", "torch")


def save(backbone: Backbone, folder: Path, kind: str, settings: ScorerSettings = LATE) -> Path:
    backbone.with_settings(settings).save(folder)
    if kind == "torch":
        return folder
    export(folder, folder.with_name("exported"), kind)
    return folder.with_name("exported")


def indexed(model: Path, facts: tuple[str, ...], threads: int | None = None) -> Entry:
    """The file with the readings of these facts."""
    dataset = Dataset("made-up", tuple(Fact(str(number), text) for number, text in enumerate(facts)))
    found = index_corpus(model, dataset, threads=threads)
    (readings,) = [entry for entry in found if entry.path.parent.name == "readings"]
    return readings


class TestFound:
    def test_nothing_is_read_any_more(self, model: Path, facts: tuple[str, ...], read: list[int]) -> None:
        lazily = load_scorer(model, facts).score(PREFIX, IDS)
        assert sorted(read) == [-1, 0, 2, 4, 6]
        read.clear()
        entry = indexed(model, facts)
        scores = load_scorer(model, facts).score(PREFIX, IDS)
        assert read == []
        # In int8, all that is read in one call has one scale.
        np.testing.assert_allclose(scores, lazily, atol=0.05 if (model / "lower.onnx").exists() else 1e-3)
        kept = load_network(model, facts).kept
        assert kept is not None
        assert entry.bytes == entry.path.stat().st_size == pytest.approx(len(kept.candidates.tokens) * 32 * 2, abs=1000)

    def test_also_by_a_scorer_of_other_facts(self, model: Path, facts: tuple[str, ...], read: list[int]) -> None:
        indexed(model, facts)
        load_scorer(model, ["heat"]).for_facts(facts).score(PREFIX, IDS)  # type: ignore[attr-defined]
        assert read == []

    def test_by_any_number_of_threads_the_same(
        self, tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...]
    ) -> None:
        model = save(tiny("bert"), tmp_path / "model", "int8")
        contents = []
        for threads in (1, 3):
            path = indexed(model, facts * 20, threads=threads).path
            arrays = read_arrays(path, path.stem)
            assert arrays is not None
            contents.append(arrays["states"].tobytes())
        assert contents[0] == contents[1]

    @pytest.mark.parametrize("facts", [(), ("ice",), ("ice", "ice"), ("Größe ≠ 漢字", "", "heat " * 300)])
    @pytest.mark.filterwarnings("ignore:Some facts are longer")
    def test_of_odd_corpora(self, torch_model: Path, facts: tuple[str, ...], read: list[int]) -> None:
        ids = np.arange(-1, len(facts))
        expected = load_scorer(torch_model, facts).score(Prefix("heat"), ids)
        read.clear()
        about = indexed(torch_model, facts).about
        assert about is not None
        assert about.facts == len(facts)
        np.testing.assert_allclose(load_scorer(torch_model, facts).score(Prefix("heat"), ids), expected, atol=1e-3)
        assert read == []

    def test_progress(self, model: Path, facts: tuple[str, ...]) -> None:
        heard: list[tuple[str, int, int]] = []
        with listening(lambda *report: heard.append(report)):
            indexed(model, facts)
        assert heard[-1] == ("reading facts ahead", len(facts) + 1, len(facts) + 1)


class TestNotUsed:
    """A stale index cannot be used: neither found by its name, nor believed under a name that is not its own."""

    def fresh(self, model: Path, facts: tuple[str, ...], read: list[int]) -> None:
        """Loaded without a warning or an index, whatever is in the cache."""
        read.clear()
        load_scorer(model, facts).score(PREFIX, IDS)
        assert sorted(read) == [-1, 0, 2, 4, 6]

    def test_after_a_change_of_the_facts(self, model: Path, facts: tuple[str, ...], read: list[int]) -> None:
        indexed(model, facts)
        self.fresh(model, facts[::-1], read)
        self.fresh(model, (*facts[:-1], "water is wet"), read)
        self.fresh(model, (*facts, "one more"), read)

    @pytest.mark.parametrize("kind", ["torch", "fp32"])
    def test_after_more_training(
        self, tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...], read: list[int], kind: str
    ) -> None:
        folder = save(tiny("bert"), tmp_path / "model", kind)
        indexed(folder, facts)
        assert save(tiny("bert", seed=1), tmp_path / "model", kind) == folder
        self.fresh(folder, facts, read)

    @pytest.mark.parametrize("kind", ["torch", "fp32"])
    def test_after_a_change_of_the_settings(
        self, tiny: Callable[..., Backbone], tmp_path: Path, facts: tuple[str, ...], read: list[int], kind: str
    ) -> None:
        indexed(save(tiny("bert"), tmp_path / "model", kind), facts)
        self.fresh(save(tiny("bert"), tmp_path / "model", kind, replace(LATE, read_ahead=1)), facts, read)

    @pytest.mark.parametrize("damage", ["another", "cut", "longer", "empty", "zeros", "folder"])
    def test_when_it_is_not_what_its_name_says(
        self, torch_model: Path, facts: tuple[str, ...], read: list[int], damage: str
    ) -> None:
        expected = load_scorer(torch_model, facts).score(PREFIX, IDS)
        path = indexed(torch_model, facts).path
        content = path.read_bytes()
        changed = {
            "another": indexed(torch_model, facts[::-1]).path.read_bytes(),
            "cut": content[:-1],
            "longer": content + b"\0",
            "empty": b"",
            "zeros": bytes(len(content)),
        }
        if damage == "folder":
            path.unlink()
            path.mkdir()
        else:
            assert damage != "another" or len(changed[damage]) == len(content)
            path.write_bytes(changed[damage])
        read.clear()
        with pytest.warns(ArcfWarning, match=r"\. Facts are read when they are needed; `arcf index` writes it anew"):
            scores = load_scorer(torch_model, facts).score(PREFIX, IDS)
        np.testing.assert_array_equal(scores, expected)
        assert len(read) == 5


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


class TestRefused:
    def test_a_cache_that_cannot_be_written_to(self, model: Path, facts: tuple[str, ...], cache: Path) -> None:
        cache.parent.mkdir()
        cache.write_text("a file where the folder should be")
        with pytest.raises(InputError, match=r"cache/readings: cannot be made a folder"):
            indexed(model, facts)

    def test_a_read_only_cache(
        self, torch_model: Path, facts: tuple[str, ...], read: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What is there can be used, and what is not there is read: only the command wants to write."""
        indexed(torch_model, facts)

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(Path, "touch", refuse)
        with pytest.raises(InputError, match=r"cannot be written \(Permission denied\)"):
            indexed(torch_model, facts)
        load_scorer(torch_model, facts).score(PREFIX, IDS)
        assert read == []

    def test_a_disk_that_fills(
        self, model: Path, facts: tuple[str, ...], cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(_: int) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left on device") as raised:
            indexed(model, facts)
        assert str(raised.value.filename).startswith(str(cache))
        assert files_in(cache) == []

    def test_what_is_left_over_is_not_read(self, model: Path, facts: tuple[str, ...], cache: Path) -> None:
        asked: list[int] = []

        def stop(what: str, done: int, _: int) -> None:
            if what == "reading facts ahead":
                asked.append(done)
                raise KeyboardInterrupt

        with listening(stop), pytest.raises(KeyboardInterrupt):
            indexed(model, facts)
        assert len(asked) == 1
        assert files_in(cache / "readings") == []


ROWS = st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=4)


@given(ROWS, ROWS)
def test_the_hash_tells_all_tokens_and_their_rows_apart(first: list[list[int]], second: list[list[int]]) -> None:
    hashes = [fingerprint("model", Ragged.of(rows)) for rows in (first, second)]
    assert (hashes[0] == hashes[1]) == (first == second)
    assert fingerprint("other", Ragged.of(first)) != hashes[0]


def test_the_name_is_the_hash(cache: Path) -> None:
    rows = Ragged.of([[1, 2], [3]])
    assert index_path("model", rows) == cache / "readings" / f"{fingerprint('model', rows)}.kept"

import json
from pathlib import Path

import pytest

from arcf.errors import InputError
from arcf.sentences.folder import SentenceFolder, read_folder


def write(folder: Path, **files: object) -> Path:
    for name, content in files.items():
        path = folder / f"{name.replace('__', '/')}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


def test_plain_folder_takes_the_mean_and_the_models_length(tmp_path: Path) -> None:
    folder = read_folder(write(tmp_path, config={"max_position_embeddings": 128}))
    assert folder == SentenceFolder(tmp_path, pooling="mean", max_tokens=128)
    assert folder.graphs is None


def test_sentence_transformers_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        config={"max_position_embeddings": 514, "model_type": "roberta", "pad_token_id": 1},
        sentence_bert_config={"max_seq_length": 600, "do_lower_case": True},
        modules=[
            {"type": "sentence_transformers.models.Transformer"},
            {"type": "sentence_transformers.models.Pooling"},
        ],
    )
    write(tmp_path, **{"1_Pooling__config": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}})
    assert read_folder(tmp_path) == SentenceFolder(tmp_path, pooling="cls", max_tokens=512, lower_case=True, pad=1)


@pytest.mark.parametrize(("mode", "pooling"), [("cls", "cls"), ("mean", "mean"), (["mean"], "mean")])
def test_folder_of_a_newer_sentence_transformers(tmp_path: Path, mode: object, pooling: str) -> None:
    """From 5.4 on, pooling has a name instead of flags, and the length stands beside the tokenizer."""
    write(
        tmp_path,
        config={"max_position_embeddings": 512},
        modules=[{"type": "sentence_transformers.models.Transformer"}],
        tokenizer_config={"model_max_length": 256},
        **{"1_Pooling__config": {"embedding_dimension": 32, "pooling_mode": mode, "include_prompt": True}},
    )
    assert read_folder(tmp_path) == SentenceFolder(tmp_path, pooling=pooling, max_tokens=256)  # type: ignore[arg-type]


def test_the_tokenizer_of_a_plain_folder_tells_no_length(tmp_path: Path) -> None:
    write(tmp_path, config={"max_position_embeddings": 512}, tokenizer_config={"model_max_length": 10**30})
    assert read_folder(tmp_path).max_tokens == 512


@pytest.mark.parametrize("place", ["model.onnx", "onnx/model.onnx"])
def test_graph_is_found(tmp_path: Path, place: str) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).touch()
    assert read_folder(write(tmp_path, config={})).graphs == (tmp_path / place,)


def test_graphs_in_two_parts_are_found(tmp_path: Path) -> None:
    (tmp_path / "lower.onnx").touch()
    assert read_folder(write(tmp_path, config={})).graphs is None
    (tmp_path / "upper.onnx").touch()
    assert read_folder(write(tmp_path, config={})).graphs == (tmp_path / "lower.onnx", tmp_path / "upper.onnx")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "config.json: cannot be read"),
        ({"config": []}, "is not a JSON object"),
        ({"config": {}, "modules": [{"type": "sentence_transformers.models.Dense"}]}, "does not know: Dense"),
        ({"config": {}, "modules": {"a": 1}}, "modules.json: is not a list of steps"),
        ({"config": {}, "1_Pooling__config": {"pooling_mode_max_tokens": True}}, "pooling by max_tokens"),
        ({"config": {}, "1_Pooling__config": {"pooling_mode": "lasttoken"}}, "pooling by lasttoken"),
        ({"config": {}, "1_Pooling__config": {"pooling_mode": ["cls", "mean"]}}, "pooling by cls, mean"),
        ({"config": {}, "1_Pooling__config": {"dimension": 3}}, "says nothing of pooling"),
    ],
)
def test_unusable_folders(tmp_path: Path, files: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_folder(write(tmp_path, **files))


def test_broken_json(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{\n oops")
    with pytest.raises(InputError, match=r"config.json:2: is not JSON"):
        read_folder(tmp_path)

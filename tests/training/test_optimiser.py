import pytest
import torch
from torch import nn

from arcf.scorer.network.backbone import Backbone, load_backbone
from arcf.training.optimiser import WeightAverage, make_optimiser, set_learning_rate
from arcf.training.settings import OptimisationSettings


@pytest.fixture
def names(backbone: Backbone) -> dict[int, str]:
    return {id(parameter): name for name, parameter in backbone.model.named_parameters()}


def test_groups_hold_every_parameter_once(backbone: Backbone, names: dict[int, str]) -> None:
    optimiser = make_optimiser(backbone, OptimisationSettings())
    grouped = [id(parameter) for group in optimiser.param_groups for parameter in group["params"]]
    assert sorted(grouped) == sorted(names)
    assert len(optimiser.param_groups) == 2 * 4  # head, two layers, embeddings


def test_no_decay_on_biases_and_norms(backbone: Backbone, names: dict[int, str]) -> None:
    optimiser = make_optimiser(backbone, OptimisationSettings(weight_decay=0.1))
    for group in optimiser.param_groups:
        for parameter in group["params"]:
            plain = names[id(parameter)].endswith("bias") or "LayerNorm" in names[id(parameter)]
            assert group["weight_decay"] == (0.0 if plain else 0.1), names[id(parameter)]


def test_lower_layers_learn_slower(backbone: Backbone, names: dict[int, str]) -> None:
    optimiser = make_optimiser(backbone, OptimisationSettings(layer_decay=0.5))
    shares = {names[id(p)]: group["base"] for group in optimiser.param_groups for p in group["params"]}
    expected = {"classifier": 1.0, "layer.1.": 0.5, "layer.0.": 0.25, "embeddings": 0.125}
    for name, share in shares.items():
        assert share == next(value for part, value in expected.items() if part in name), name
    set_learning_rate(optimiser, 0.0, OptimisationSettings(learning_rate=8.0))
    assert {group["lr"] for group in optimiser.param_groups} == {8.0, 4.0, 2.0, 1.0}


def test_frozen_embeddings_are_absent(backbone: Backbone, names: dict[int, str]) -> None:
    backbone.embeddings.word.weight.requires_grad_(False)
    optimiser = make_optimiser(backbone, OptimisationSettings())
    grouped = {names[id(parameter)] for group in optimiser.param_groups for parameter in group["params"]}
    assert set(names.values()) - grouped == {"bert.embeddings.word_embeddings.weight"}


@pytest.mark.parametrize(
    ("warmup", "progress", "rate"),
    [
        (0.0, 0.0, 1.0),
        (0.0, 0.5, 0.5),
        (0.0, 1.0, 0.0),
        (0.2, 0.0, 0.0),
        (0.2, 0.1, 0.5),
        (0.2, 0.2, 1.0),
        (0.2, 0.6, 0.5),
        (0.2, 1.0, 0.0),
        (1.0, 0.5, 0.5),
        (1.0, 1.0, 1.0),
    ],
)
def test_schedule(backbone: Backbone, warmup: float, progress: float, rate: float) -> None:
    settings = OptimisationSettings(learning_rate=3.0, warmup=warmup)
    optimiser = make_optimiser(backbone, settings)
    assert set_learning_rate(optimiser, progress, settings) == pytest.approx(3 * rate)


def test_average_is_the_mean_and_swapping_twice_changes_nothing() -> None:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    model.bias.requires_grad_(False)
    average, seen = WeightAverage(), []
    for _ in range(7):
        with torch.no_grad():
            model.weight.add_(torch.randn(2, 3))
        seen.append(model.weight.detach().clone())
        average.add(model)
    torch.testing.assert_close(average.mean["weight"], torch.stack(seen).mean(0))
    assert set(average.mean) == {"weight"}
    bias = model.bias.clone()
    average.swap(model)
    torch.testing.assert_close(model.weight.detach(), torch.stack(seen).mean(0))
    average.swap(model)
    assert torch.equal(model.weight, seen[-1])
    assert torch.equal(model.bias, bias)


def test_swapping_without_an_average_changes_nothing() -> None:
    model = nn.Linear(3, 2)
    before = model.weight.detach().clone()
    WeightAverage().swap(model)
    assert torch.equal(model.weight, before)


def test_loading_gives_the_same_head_for_the_same_seed(backbone: Backbone, model_folder: object) -> None:
    heads = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        heads.append(load_backbone(str(model_folder)).head.weight)
    assert torch.equal(heads[0], heads[1])
    assert not torch.equal(heads[0], heads[2])
    assert backbone.head.weight.shape == heads[0].shape

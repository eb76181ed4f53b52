"""Which weights move, how fast, and the average that is kept of them."""

from collections.abc import Iterable
from dataclasses import fields

import torch
from torch import Tensor, nn

from arcf.scorer.network.backbone import Backbone, Layer
from arcf.training.settings import OptimisationSettings


def make_optimiser(backbone: Backbone, settings: OptimisationSettings) -> torch.optim.AdamW:
    """Adam with decoupled weight decay, none on biases and norms; one group of parameters per layer and kind.

    Every group's `base` is its share of the learning rate: 1 for the head, `layer_decay` times less for each layer
    below.
    """
    groups = []
    for depth, parameters in enumerate(_from_the_top(backbone)):
        for decays in (True, False):
            chosen = [parameter for parameter in parameters if (parameter.ndim > 1) == decays]
            if chosen:
                groups.append(
                    {
                        "params": chosen,
                        "base": settings.layer_decay**depth,
                        "weight_decay": settings.weight_decay if decays else 0.0,
                    }
                )
    betas = (settings.beta1, settings.beta2)
    return torch.optim.AdamW(groups, lr=settings.learning_rate, betas=betas, eps=settings.epsilon, fused=True)


def _from_the_top(backbone: Backbone) -> Iterable[list[nn.Parameter]]:
    """Trainable parameters: the head's, each layer's from the last to the first, then all others (embeddings)."""
    taken: set[int] = set()
    layers = [_modules(layer) for layer in reversed(backbone.layers)]
    parts: list[list[nn.Module]] = [[backbone.head], *layers, [backbone.model]]
    for modules in parts:
        parameters = [
            parameter
            for module in modules
            for parameter in module.parameters()
            if parameter.requires_grad and id(parameter) not in taken
        ]
        taken.update(id(parameter) for parameter in parameters)
        yield parameters


def _modules(layer: Layer) -> list[nn.Module]:
    parts = (getattr(layer, part.name) for part in fields(layer))
    return [part for part in parts if isinstance(part, nn.Module)]


def set_learning_rate(optimiser: torch.optim.Optimizer, progress: float, settings: OptimisationSettings) -> float:
    """Linear warm-up, then linear decay to 0 at progress 1. Gives the rate of the head."""
    rising = progress / settings.warmup if settings.warmup else 1.0
    falling = (1.0 - progress) / (1.0 - settings.warmup) if settings.warmup < 1 else 1.0
    rate = settings.learning_rate * max(0.0, min(rising, falling, 1.0))
    for group in optimiser.param_groups:
        group["lr"] = rate * group["base"]
    return rate


class WeightAverage:
    """The running mean of trainable weights over the steps that it has seen."""

    def __init__(self) -> None:
        self.steps = 0
        self.mean: dict[str, Tensor] = {}

    @torch.no_grad()
    def add(self, model: nn.Module) -> None:
        """Take the weights of one more step into the mean."""
        self.steps += 1
        for name, parameter in model.named_parameters():
            if not parameter.requires_grad:
                continue
            if self.steps == 1:
                self.mean[name] = parameter.detach().clone()
            else:
                self.mean[name].lerp_(parameter.detach(), 1.0 / self.steps)

    @torch.no_grad()
    def swap(self, model: nn.Module) -> None:
        """Exchange the model's weights and the mean; a second call puts them back."""
        for name, parameter in model.named_parameters():
            if name in self.mean:
                kept = parameter.detach().clone()
                parameter.copy_(self.mean[name])
                self.mean[name] = kept

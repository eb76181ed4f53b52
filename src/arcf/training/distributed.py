"""Training on several processes, started by torchrun: each takes a part of every step's terms.

Gradients are summed by hand after the whole step, and not by DistributedDataParallel: the terms of a step do not divide
evenly, and that wrapper waits for ever when one process has one part less than another.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
from torch import distributed, nn

Item = TypeVar("Item")

#: The others wait while the first process validates, which takes longer than torch's own limit of 10 to 30 minutes.
PATIENCE = timedelta(hours=12)


@dataclass(frozen=True, slots=True)
class Workers:
    """This process among all that train together."""

    rank: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    def mine(self, items: Sequence[Item]) -> Sequence[Item]:
        """This process's part of a list."""
        return items[self.rank :: self.count]

    def sum_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give every process the sum of all processes' gradients; a missing one counts as zero."""
        if self.count == 1:
            return
        chosen = [parameter for parameter in parameters if parameter.requires_grad]
        for parameter in chosen:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        flat = torch.cat([parameter.grad.reshape(-1) for parameter in chosen if parameter.grad is not None])
        distributed.all_reduce(flat)
        for parameter, gradient in zip(chosen, flat.split([parameter.numel() for parameter in chosen]), strict=True):
            parameter.grad = gradient.view_as(parameter)

    def sum(self, value: float) -> float:
        """The sum of a number over all processes."""
        if self.count == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64)
        distributed.all_reduce(total)
        return float(total)


@contextmanager
def workers() -> Iterator[Workers]:
    """The processes of this run: those that torchrun started, or just this one."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield Workers()
        return
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    distributed.init_process_group("cpu:gloo,cuda:nccl" if on_gpu else "gloo", timeout=PATIENCE)
    try:
        yield Workers(distributed.get_rank(), count)
    finally:
        distributed.destroy_process_group()

"""A ranker's description with all that it needs of this machine, to be built from on another one."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from arcf.cluster.folder import Folder, pack
from arcf.errors import InputError
from arcf.kept.arrays import Arrays
from arcf.kept.facts import KeptFacts
from arcf.kept.folder import MODELS, cache_folder, keep_bounded
from arcf.pretrained.location import find_folder
from arcf.rankers.registry import find_kind
from arcf.rankers.screening import decided
from arcf.rankers.settings import RankerSettings
from arcf.scorer.exported.folder import UNTRAINED
from arcf.scorer.loading import encoder_elsewhere
from arcf.types import Dataset, Question


@dataclass(frozen=True, slots=True, eq=False)
class Parcel:
    """What travels: the description, the facts and questions, and the folders of models by their names here.

    Facts are arrays (see `KeptFacts`), which lie in a node's memory once for all workers. What is made of them (words,
    distances, tokens) is made by one worker of a node, in the node's cache, and mapped by the others: see `kept`.
    A model on the hub travels by its name, and the packaged one not at all: it is where arcf is. The encoder of a dense
    prior travels in the folder of its model, as in an export.
    """

    settings: RankerSettings
    name: str
    facts: Arrays
    splits: Mapping[str, tuple[Question, ...]]
    whole_training: tuple[Question, ...] | None
    models: Mapping[str, Folder]

    @classmethod
    def of(cls, settings: RankerSettings, dataset: Dataset) -> Self:
        """Pack a ranker's needs, and what the cache here decides: all that open the parcel are the same ranker.

        Raises:
            InputError: a model's folder cannot be read.
        """
        settings = decided(settings, dataset)
        names = {settings.model, *(model for _, model in settings.ensemble.split())} - {None}
        folders = {name: folder for name in names if name and (folder := find_folder(name))}
        models = {name: _packed(folder) for name, folder in folders.items()}
        facts = KeptFacts.arrays(dataset.facts)
        return cls(settings, dataset.name, facts, dict(dataset.splits), dataset.whole_training, models)

    def open(self) -> tuple[RankerSettings, Dataset]:
        """The description as it holds on this machine, and the dataset; one thread unless it says otherwise.

        Raises:
            InputError: a model cannot be written to this machine's cache.
        """
        here = self._unpacked()
        ensemble, model = self.settings.ensemble, self.settings.model
        members = [f"{kind}:{here.get(own, own)}" if own else kind for kind, own in ensemble.split()]
        settings = replace(
            self.settings,
            model=here.get(model, model) if model else None,
            ensemble=replace(ensemble, members=tuple(members)),
        )
        if "threads" in find_kind(settings).settings:
            settings = replace(settings, threads=settings.threads or 1)
        return settings, Dataset(self.name, KeptFacts(self.facts), self.splits, self.whole_training)

    def _unpacked(self) -> Mapping[str, str]:
        """Where the models are on this machine, by their names on the other."""
        models = cache_folder() / MODELS
        here = {name: str(folder.unpack(models)) for name, folder in self.models.items()}
        if here:
            with suppress(InputError):  # A cache that cannot be read cannot be bounded either.
                keep_bounded()
        return here


def _packed(folder: Path) -> Folder:
    """A model's files, and those of its encoder, which it may name by a path of this machine."""
    model, encoder = pack(folder), encoder_elsewhere(folder)
    if encoder is None:
        return model
    return Folder({**model.files, **{f"{UNTRAINED}/{name}": content for name, content in pack(encoder).files.items()}})

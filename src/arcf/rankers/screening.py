"""What tells which facts are worth a score: words alone, or the vectors of all facts as well.

Of very many facts there are vectors only if somebody has made them (`arcf index --distance embedding`), and with them a
dense prior ranks otherwise than without. What a run is begun with, it must be ended with, whatever the cache holds by
then, and on whichever machine: so it is decided once, here, and is a part of the description from then on.
"""

from dataclasses import replace

from arcf.neighborhood.store import find_embedding
from arcf.pretrained.location import locate
from arcf.rankers.registry import find_kind
from arcf.rankers.settings import RankerSettings
from arcf.scorer import dense_prior, packaged_model
from arcf.scorer.loading import encoder_of
from arcf.types import Dataset


def decided(settings: RankerSettings, dataset: Dataset) -> RankerSettings:
    """The description, with what this machine's cache decides about it; as it is, where that decides nothing.

    Where models have encoders of their own, the vectors of all of them must be there.

    Raises:
        InputError: a model is not there, or cannot be read.
        UnknownNameError: there is no such ranker.
        SettingError: a setting is given that the ranker has no use for.
    """
    if settings.vectors is not None or len(dataset.facts) < dense_prior.MANY_FACTS:
        return settings
    if "vectors" not in find_kind(settings).settings or settings.chain.rescored is None:  # All is scored.
        return settings
    named = [model for _, model in settings.ensemble.split()] or [None]
    models = {str(model or settings.model or packaged_model()) for model in named}
    encoders = {encoder for model in models if (encoder := encoder_of(locate(model)))}
    if not encoders:
        return settings
    are_there = all(find_embedding(encoder, dataset.texts) is not None for encoder in encoders)
    return replace(settings, vectors=are_there)

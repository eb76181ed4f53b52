"""The model card: what a model was made from, how, and how good it is."""

import json
from collections.abc import Mapping
from typing import Any

from arcf.config import as_toml
from arcf.training.settings import TrainingSettings

_TEMPLATE = """---
library_name: arcf
tags: [explanation, multi-hop, ranking]
base_model: {base}
datasets: [{header_dataset}]
---

# {dataset}, {encoding} encoding, {loss} loss

A scorer of the next fact of a chain that explains an answer: the method of "Autoregressive Reasoning over Chains of
Facts with Transformers" (Cartuyvels, Spinks and Moens, 2020), trained with arcf.

```python
import arcf

explainer = arcf.load(model="path/to/this/folder")
print(explainer.explain("Which process turned the ice cube to water?", answer="melting"))
```

## Intended use

Ranking and explaining with facts from a corpus of short sentences. Elementary science in English is what it has learnt;
other subjects work as far as the language model knows them. A chain shows what the model found related, not a proof.

## Data

{questions} questions of the split {split} of {dataset}, {facts} facts; {held_out} more questions were held out for
choosing the weights.{licence}

## Scores

{scores}

## Settings

```toml
{settings}```
"""

_WORLDTREE = """ WorldTree's questions are licensed for research and not for commercial use, its tables and annotations
under CC BY-SA 4.0."""


def model_card(settings: TrainingSettings, data: Mapping[str, Any], scores: Mapping[str, Any]) -> str:
    """Markdown with the header that the Hugging Face hub reads."""
    return _TEMPLATE.format(
        base=json.dumps(settings.model.name),
        header_dataset=json.dumps(data["name"]),
        licence=_WORLDTREE if "worldtree" in data["name"].lower() else "",
        encoding=settings.model.encoding,
        loss=settings.optimisation.loss,
        scores="\n".join(f"- {name.replace('_', ' ')}: {json.dumps(value)}" for name, value in scores.items()),
        settings=as_toml(settings),
        dataset=data["name"],
        split=data["split"],
        questions=data["questions"],
        held_out=data["held_out"],
        facts=data["facts"],
    )

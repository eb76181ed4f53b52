"""The model card: what a model was made from, how, and how good it is."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from arcf.config import as_toml
from arcf.training.settings import TrainingSettings

_TEMPLATE = """---
library_name: arcf
tags: [explanation, multi-hop, ranking]
base_model: {base}
datasets: {header_datasets}
---

# {datasets}, {encoding} encoding, {loss} loss

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

{data}{licence}

## Scores

{scores}

## Settings

```toml
{settings}```
"""

_DATA = """{questions} questions of the split {split} of {name}, {facts} facts; {held_out} more questions were held out
for choosing the weights."""

_NEW = """ {held_out_facts} of the facts, and the {new} questions that they explain, were not shown in training."""

_WORLDTREE = """ WorldTree's questions are licensed for research and not for commercial use, its tables and annotations
under CC BY-SA 4.0."""


def model_card(settings: TrainingSettings, data: Sequence[Mapping[str, Any]], scores: Mapping[str, Any]) -> str:
    """Markdown with the header that the Hugging Face hub reads; `data` describes each corpus that was learnt from."""
    names = list(dict.fromkeys(corpus["name"] for corpus in data))
    return _TEMPLATE.format(
        base=json.dumps(settings.model.name),
        header_datasets=json.dumps(names),
        licence=_WORLDTREE if any("worldtree" in name.lower() for name in names) else "",
        encoding=settings.model.encoding,
        loss=settings.optimisation.loss,
        scores="\n".join(f"- {name.replace('_', ' ')}: {json.dumps(value)}" for name, value in scores.items()),
        settings=as_toml(settings),
        datasets=", ".join(names),
        data="\n\n".join(_describe(corpus) for corpus in data),
    )


def _describe(corpus: Mapping[str, Any]) -> str:
    return (_DATA + (_NEW if corpus["held_out_facts"] else "")).format(**corpus)

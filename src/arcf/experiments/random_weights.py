"""Models that have learnt nothing: what pretraining is worth, and what a smoke test can afford.

By hand: python -m arcf.experiments.random_weights MODEL FOLDER [--tiny]
"""

import sys
from pathlib import Path

import torch
import transformers

from arcf.pretrained.location import TOKENIZER, locate
from arcf.pretrained.tokenizer import read_tokenizer
from arcf.scorer.network.backbone import make_backbone

TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
SEED = 0


def write_random_model(source: str, folder: Path, *, tiny: bool = False) -> None:
    """Write a model of the source's architecture and tokenizer, with random weights; `tiny` makes it small as well.

    Raises:
        InputError: there is no such model, or the folder cannot be written.
    """
    found = locate(source)
    config = transformers.AutoConfig.from_pretrained(found, local_files_only=True)
    config.update({"num_labels": 1} | (TINY if tiny else {}))
    torch.manual_seed(SEED)
    network = transformers.AutoModelForTokenClassification.from_config(config)
    make_backbone(network, read_tokenizer(found / TOKENIZER)).save(folder)


if __name__ == "__main__":
    write_random_model(sys.argv[1], Path(sys.argv[2]), tiny="--tiny" in sys.argv[3:])

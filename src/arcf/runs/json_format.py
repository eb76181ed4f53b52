"""Runs as JSON: the format that also holds scores and chains.

    {"format": "arcf-run", "version": 1, "dataset": NAME, "rankings": [RANKING, ...]}

One RANKING a line, best first; the chain, and whether the stop sample ended it, only where the ranking has one; how
sure it is of each of its facts only where the model is calibrated:

    {"question": ID, "facts": [UID, ...], "scores": [NUMBER, ...],
     "chain": [UID, ...], "stopped": true, "confidences": [NUMBER, ...]}
"""

import json
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arcf.errors import InputError
from arcf.files import decode
from arcf.runs.content import Content
from arcf.runs.run import ChosenUids
from arcf.runs.scores import LARGEST, numbers, printed
from arcf.types import Chosen, Dataset, Ranking


def read_json_run(file: BufferedReader, path: Path) -> Content:
    """The content of a file.

    Raises:
        InputError: it is broken, or no run.
    """
    content = Content()
    uids: dict[str, str] = {}
    for number, entry in enumerate(_entries(file, path), 1):
        question, facts = _ranking(entry, number, path)
        kept = content.rankings.setdefault(question, [])
        if not kept and _are_numbers(entry.get("scores")):
            content.scores[question] = entry["scores"]
        kept.extend([uids.setdefault(uid, uid) for uid in facts])
        if chain := _chain(entry, number, path):
            content.chains[question] = chain
    return content


def json_blocks(dataset: Dataset, rankings: Iterable[Ranking]) -> Iterator[str]:
    """The text of a file, about one block a question."""
    uids = np.array([json.dumps(fact.uid) for fact in dataset.facts], dtype=object)
    head = {"format": "arcf-run", "version": 1, "dataset": dataset.name}
    yield f'{json.dumps(head)[:-1]}, "rankings": ['
    comma = ""
    for ranking in rankings:
        facts = ",".join(uids[ranking.facts])
        scores = ",".join(printed(np.clip(numbers(ranking), -LARGEST, LARGEST)))
        name, chain = json.dumps(ranking.question_id), _chain_text(ranking.chosen, uids)
        yield f'{comma}\n{{"question": {name}, "facts": [{facts}], "scores": [{scores}]{chain}}}'
        comma = ","
    yield "\n]}\n"


def _chain_text(chosen: Chosen | None, uids: NDArray[np.object_]) -> str:
    if chosen is None:
        return ""
    links = ",".join(uids[list(chosen.facts)])
    sure = f', "confidences": {json.dumps(chosen.confidences)}' if chosen.confidences else ""
    return f', "chain": [{links}], "stopped": {json.dumps(chosen.stopped)}{sure}'


def _entries(file: BufferedReader, path: Path) -> list[Any]:
    try:
        record = json.loads(decode(file.read(), path))
    except json.JSONDecodeError as error:
        raise InputError(f"is broken JSON ({error.msg}).", path, error.lineno) from error
    except RecursionError as error:
        raise InputError("is JSON nested too deeply for a run.", path) from error
    entries = record.get("rankings")
    if not isinstance(entries, list):
        raise InputError("is JSON without a list 'rankings'; expected a run as arcf rank writes it.", path)
    return entries


def _ranking(entry: Any, number: int, path: Path) -> tuple[str, list[str]]:
    """Question id and uids of one entry. The uids' types are looked at in one go, in C."""
    match entry:
        case {"question": str(question), "facts": list(facts)} if set(map(type, facts)) <= {str}:
            return question, facts
    raise InputError(f"entry {number} of 'rankings' needs a string 'question' and a list of strings 'facts'.", path)


def _chain(entry: dict[str, Any], number: int, path: Path) -> ChosenUids | None:
    if "chain" not in entry:
        return None
    match entry:
        case {"chain": list(chain), "stopped": bool(stopped)} if set(map(type, chain)) <= {str}:
            return ChosenUids(tuple(chain), stopped, _confidences(entry, number, path))
    raise InputError(f"entry {number} of 'rankings' has a 'chain' that is no list of strings, or no 'stopped'.", path)


def _confidences(entry: dict[str, Any], number: int, path: Path) -> tuple[float, ...]:
    found = entry.get("confidences", [])
    fit = _are_numbers(found) and len(found) in (0, len(entry["chain"])) and all(0 <= value <= 1 for value in found)
    if not fit:
        raise InputError(
            f"entry {number} of 'rankings' needs a number from 0 to 1 for each fact of its chain in 'confidences'.",
            path,
        )
    return tuple(found)


def _are_numbers(scores: Any) -> bool:
    return isinstance(scores, list) and set(map(type, scores)) <= {int, float}

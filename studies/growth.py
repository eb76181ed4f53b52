"""How explaining grows with the corpus: made-up facts, from the first reading of the file to the sixth question.

    python studies/growth.py --facts 10000 --facts 100000 --facts 1000000 --output growth.json
    python studies/growth.py --draw growth.json --plot docs/own-facts.png

Every figure is that of a process of its own, which is what a command is: `build` explains one question with an empty
cache, `cold` the same with a full one; `question` is the mean of further questions in the process of `cold`, and
`memory` the most that it held resident (pages of mapped files included), before and after these questions. Seconds of
the processor (user and system, all threads) depend less on what else the machine does than those of the clock.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

QUESTIONS = 5
Figures = dict[str, float]


def main() -> None:
    """Measure, or take what was measured; print, write and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--facts", type=int, action="append", help="size of a corpus; repeat it")
    parser.add_argument("--output", type=Path, help="write the figures to this JSON file")
    parser.add_argument("--plot", type=Path, help="draw them into this picture")
    parser.add_argument("--draw", type=Path, help="take the figures from this file instead of measuring")
    parser.add_argument("--explain", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--questions", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not (given.explain or given.draw or given.facts):
        parser.error("give the sizes of corpora (--facts N), or figures to be drawn (--draw FILE)")
    if given.explain is not None:
        print(json.dumps(explain(given.explain, given.questions)))
        return
    grown = json.loads(given.draw.read_text()) if given.draw else [measure(size) for size in sorted(given.facts)]
    print(json.dumps(grown, indent=2))
    if given.output is not None:
        given.output.write_text(json.dumps(grown, indent=2) + "\n")
    if given.plot is not None:
        draw(grown, given.plot)


def measure(size: int) -> dict[str, object]:
    """All figures of one size, in a folder and with a cache of their own."""
    from arcf.bench.corpus import make_corpus

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made_up = make_corpus(size, QUESTIONS + 1)
        (folder / "facts.txt").write_text("".join(f"{fact.text}\n" for fact in made_up.facts))
        (folder / "questions.txt").write_text("".join(f"{question.text}\n" for question in made_up.questions))
        del made_up
        build, cold = in_a_process(folder, 0), in_a_process(folder, QUESTIONS)
        kept = sum(path.stat().st_size for path in (folder / "cache").rglob("*") if path.is_file())
    return {"facts": size, "build": build, "cold": cold, "kept_bytes": kept}


def in_a_process(folder: Path, questions: int) -> Figures:
    """`explain` in a process of its own; `first_wall` counts from its start."""
    command = [sys.executable, __file__, "--explain", str(folder), "--questions", str(questions)]
    environment = os.environ | {"ARCF_CACHE": str(folder / "cache")}
    begun = time.time()
    output = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    figures: Figures = json.loads(output)
    return figures | {"first_wall": figures["first_wall"] - begun}


def explain(folder: Path, more: int) -> Figures:
    """Explain one question, and then more: seconds of the processor and of the clock, and memory."""
    import arcf

    first, *others = (folder / "questions.txt").read_text().splitlines()
    explainer = arcf.load(facts=folder / "facts.txt")
    explainer.explain(first)
    figures = {"first_cpu": processor(), "first_wall": time.time(), "first_memory": memory()}
    if not more:
        return figures
    for question in others[:more]:
        explainer.explain(question)
    return figures | {
        "question_cpu": (processor() - figures["first_cpu"]) / more,
        "question_wall": (time.time() - figures["first_wall"]) / more,
        "memory": memory(),
    }


def processor() -> float:
    """Seconds of the processor that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory() -> float:
    """The most memory that this process has held, in bytes."""
    from arcf.bench.memory import peak_bytes

    return float(peak_bytes() or 0)


def draw(grown: list[dict[str, Any]], path: Path) -> None:
    """Draw time, disk and memory over the number of facts."""
    from arcf.evaluation.plots import plot_growth

    def line(part: str, key: str, unit: float = 1.0) -> dict[int, float]:
        return {entry["facts"]: entry[part][key] / unit for entry in grown}

    panels = {
        "seconds of the processor": {
            "first command": line("build", "first_cpu"),
            "every later command": line("cold", "first_cpu"),
            "a further question": line("cold", "question_cpu"),
        },
        "on disk, MB": {"kept": {entry["facts"]: entry["kept_bytes"] / 1e6 for entry in grown}},
        "memory, MB": {
            "first command": line("build", "first_memory", 1e6),
            "every later command": line("cold", "first_memory", 1e6),
            f"after {QUESTIONS} more questions": line("cold", "memory", 1e6),
        },
    }
    plot_growth(panels, "facts", path)


if __name__ == "__main__":
    main()

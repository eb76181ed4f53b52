"""A large corpus from end to end: python studies/million.py FOLDER [--facts 1000000].

Makes up a corpus in FOLDER, unless there is one, and lets `arcf index` keep what is made of it. Then `arcf explain` is
given a question, in a process of its own, three times; a process explains many questions; and a server does, while its
memory is looked at. Seconds are those of the clock: nothing else should run.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path
from time import perf_counter, sleep
from typing import Annotated

import httpx
import numpy as np
import typer

ARCF = [sys.executable, "-m", "arcf"]
STARTS = 3
LOOKS = 6
"""How often a server's memory is looked at."""


def prepare(folder: Path, size: int, questions: int) -> list[str]:
    """The questions of a corpus that is there, made and indexed."""
    from arcf.bench.corpus import make_corpus

    facts, asked = folder / "facts.txt", folder / "questions.txt"
    if not asked.exists():
        made_up = make_corpus(size, questions)
        facts.write_text("".join(f"{fact.text}\n" for fact in made_up.facts))
        asked.write_text("".join(f"{question.text}\n" for question in made_up.questions))
    start = perf_counter()
    subprocess.run([*ARCF, "index", "--facts", facts], check=True)
    print(f"indexed in {perf_counter() - start:.1f} s")
    return asked.read_text().splitlines()


def starts(facts: Path, question: str) -> None:
    """`arcf explain` from its start to its end, and the most memory that it held."""
    for _ in range(STARTS):
        start = perf_counter()
        process = subprocess.Popen([*ARCF, "explain", question, "--facts", facts], stdout=subprocess.DEVNULL)
        _, _, used = os.wait4(process.pid, 0)
        seconds, processor = perf_counter() - start, used.ru_utime + used.ru_stime
        print(
            f"arcf explain: {seconds:.2f} s ({processor:.2f} of the processor), {used.ru_maxrss / 1e3:.0f} MB at most"
        )


def warm(facts: Path, questions: list[str]) -> None:
    """Questions one after the other in this process."""
    import arcf
    from arcf.bench.memory import peak_bytes

    explainer, seconds = arcf.load(facts=facts), []
    for question in questions:
        start = perf_counter()
        explainer.explain(question)
        seconds.append(perf_counter() - start)
    low, middle, high = np.percentile(seconds[1:], [5, 50, 95])
    peak = (peak_bytes() or 0) / 1e6
    print(f"a further question: {middle:.2f} s (5% {low:.2f}, 95% {high:.2f}), {peak:.0f} MB at most")


def served(facts: Path, questions: list[str]) -> None:
    """Questions to a server, and its memory on the way."""
    from arcf.bench.memory import held

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command, nowhere = [*ARCF, "serve", "--facts", facts, "--port", str(port)], subprocess.DEVNULL
    server = subprocess.Popen(command, stdout=nowhere, stderr=nowhere)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            _wait(client)
            for number, question in enumerate(questions, 1):
                client.post("/api/explain", json={"question": question}).raise_for_status()
                if number % max(1, len(questions) // LOOKS) == 0 and (now := held(server.pid)):
                    print(f"server after {number} questions: {now.own / 1e6:.0f} MB own, {now.mapped / 1e6:.0f} mapped")
    finally:
        server.terminate()
        server.wait(timeout=20)


def _wait(client: httpx.Client) -> None:
    while True:
        try:
            client.get("/api/ready").raise_for_status()
        except httpx.HTTPError:
            sleep(0.1)
        else:
            return


def main(
    folder: Annotated[Path, typer.Argument(help="Where the corpus is, or is made.", exists=True, file_okay=False)],
    facts: Annotated[int, typer.Option(help="Size of the corpus, if it is made.")] = 1_000_000,
    questions: Annotated[int, typer.Option(help="That are asked in a process, and then of a server.")] = 20,
) -> None:
    """Print what it takes."""
    asked = prepare(folder, facts, 200)
    starts(folder / "facts.txt", asked[0])
    warm(folder / "facts.txt", asked[:questions])
    served(folder / "facts.txt", asked[: 2 * questions])


if __name__ == "__main__":
    typer.run(main)

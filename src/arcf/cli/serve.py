"""`arcf serve`: the HTTP API and the page."""

from typing import TYPE_CHECKING, Annotated

import typer

from arcf.cli.cluster import Ray
from arcf.cli.output import print_line
from arcf.cli.ranker import DatasetOrFacts
from arcf.errors import MissingExtraError, SettingError

if TYPE_CHECKING:
    from arcf.rankers import RankerSettings


def serve(
    settings: "RankerSettings",
    dataset: DatasetOrFacts = "science",
    host: Annotated[str, typer.Option(help="The address to listen on; 0.0.0.0 is everywhere.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0 takes a free one.")] = 8000,
    token: Annotated[
        str | None, typer.Option(envvar="ARCF_TOKEN", help="What programs must send as bearer token.")
    ] = None,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A name that browsers may call the server by; once for each.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Searches at once.")] = 1,
    waiting: Annotated[int, typer.Option(min=0, help="Searches in line; the next is told to come back later.")] = 32,
    seconds: Annotated[float, typer.Option(help="Time of one request.")] = 60.0,
    max_k: Annotated[int, typer.Option(min=1, help="The largest k that a request may ask for.")] = 1_000,
    max_facts: Annotated[int, typer.Option(min=1, help="The longest chain that a request may ask for.")] = 20,
    question_chars: Annotated[int, typer.Option(min=1, help="Characters of a question at most.")] = 2_000,
    body_bytes: Annotated[int, typer.Option(min=1, help="Bytes of a request at most.")] = 65_536,
    access_log: Annotated[bool, typer.Option("--access-log", help="Log every request (JSON lines, stderr).")] = False,
    replicas: Annotated[
        int | None, typer.Option(min=1, help="Copies of the model, on a Ray cluster; --workers is for each of them.")
    ] = None,
    ray: Ray = None,
    metrics: Annotated[bool, typer.Option("--metrics", help="Serve /metrics for Prometheus.")] = False,
) -> None:
    """Serve a web page that shows chains grow, and the same as an HTTP API.

    Example: arcf serve

    Example: arcf serve --dataset worldtree-2020 --model runs/best --port 9000

    Example: arcf serve --replicas 4
    """
    try:
        from arcf.serving import ServingSettings
        from arcf.serving import serve as run
    except ModuleNotFoundError as error:
        raise MissingExtraError("Serving", "serve") from error
    from dataclasses import replace
    from pathlib import Path
    from platform import node

    from arcf.data.given import given_facts
    from arcf.explainer import load_explainer
    from arcf.serving.server import listen
    from arcf.serving.settings import LOOPBACK

    limits = ServingSettings(
        model="packaged" if settings.model is None else Path(settings.model).name,
        token=token,
        hosts=(*LOOPBACK, *(name.lower() for name in allowed_host or ())),
        body_bytes=body_bytes,
        question_chars=question_chars,
        k=max_k,
        max_facts=max_facts,
        seconds=seconds,
        workers=workers,
        waiting=waiting,
        access_log=access_log,
        metrics=metrics,
    )
    if ray is not None and replicas is None:
        raise SettingError("--ray is where replicas run; it goes with --replicas.")

    def tell(address: str) -> None:
        print_line(f"arcf serves {address} (Ctrl+C ends it)")

    # Before the model is loaded, which takes longer than finding that the port is taken.
    with listen(host, port) as listener:
        if replicas is None:
            run(load_explainer(settings, dataset), limits, listener, tell)
            return
        from arcf.cluster import HERE
        from arcf.serving.replicas import ReplicaSettings, replicated

        name = f"arcf-{node()}-{listener.getsockname()[1]}"
        everywhere = ReplicaSettings(replicas, ray or HERE, workers, name, seconds)
        with replicated(settings, given_facts(dataset), everywhere) as explainer:
            run(explainer, replace(limits, workers=workers * replicas), listener, tell)

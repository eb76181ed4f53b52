"""The command line. Commands only parse, call and print; what they call is public and tested."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from arcf.cli import (
    average,
    bench,
    cache,
    calibrate,
    compare,
    data,
    evaluate,
    explain,
    export,
    fuse,
    index,
    rank,
    reachability,
    reproduce,
    restore,
    serve,
    teach,
    train,
)
from arcf.cli.cluster import with_address
from arcf.cli.output import check_arguments, open_streams, plain_errors
from arcf.cli.progress import progress_line
from arcf.cli.ranker import with_model, with_ranker
from arcf.cli.verbosity import choose

app = typer.Typer(
    name="arcf",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command()(with_ranker(explain.explain))
app.command()(with_ranker(rank.rank))
app.command()(train.train)
app.command()(teach.teach)
app.command()(average.average)
app.command()(export.export)
app.command()(restore.restore)
app.command()(index.index)
app.command()(fuse.fuse)
app.command()(calibrate.calibrate)
app.command()(evaluate.evaluate)
app.command()(compare.compare)
app.command()(reachability.reachability)
app.command()(reproduce.reproduce)
app.command()(with_model(serve.serve))
app.add_typer(data.app)
app.add_typer(bench.app)
app.add_typer(cache.app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"arcf {version('arcf')}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes, only the result.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say what is loaded, from where, and how long it took.")
    ] = False,
) -> None:
    """Explain answers with chains of facts.

    Options of all commands come before the command: arcf -q explain ...
    """
    choose(quiet=quiet, verbose=verbose)
    context.call_on_close(choose)


def main() -> None:
    """Run the command line; what went wrong is one sentence, and the exit code 2."""
    open_streams()
    with plain_errors(), progress_line():
        check_arguments(sys.argv[1:])
        app(with_address(sys.argv[1:]), prog_name="arcf")

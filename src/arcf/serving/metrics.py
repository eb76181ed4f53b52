"""What a server counts, for Prometheus."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.responses import Response

from arcf.serving.gate import Gate

SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
"""The upper bounds of the histogram's buckets."""


class _Line(Collector):
    """The queue as it is when somebody asks."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def collect(self) -> Iterable[Metric]:
        gate = self._gate
        yield GaugeMetricFamily("arcf_running", "Searches that run.", value=gate.running)
        yield GaugeMetricFamily("arcf_waiting", "Searches in line.", value=gate.waiting)
        refusals = CounterMetricFamily("arcf_refusals", "Searches sent away: full line, time over.", labels=["reason"])
        refusals.add_metric(["full"], gate.full)
        refusals.add_metric(["late"], gate.late)
        yield refusals


class Metrics:
    """The counters of one application."""

    def __init__(self, gate: Gate) -> None:
        self._registry = CollectorRegistry()
        labels = ["route", "status"]
        self._requests = Counter("arcf_requests", "Requests answered.", labels, registry=self._registry)
        self._seconds = Histogram(
            "arcf_request_seconds", "From a request to its answer.", ["route"], registry=self._registry, buckets=SECONDS
        )
        self._searches = Counter("arcf_searches", "Searches that came to their end.", registry=self._registry)
        self._scorings = Counter("arcf_scorings", "Facts scored in those.", registry=self._registry)
        self._registry.register(_Line(gate))

    def answered(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def searched(self, scorings: int) -> None:
        """Count a search."""
        self._searches.inc()
        self._scorings.inc(scorings)

    async def page(self) -> Response:
        """All of them, as Prometheus reads them."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)

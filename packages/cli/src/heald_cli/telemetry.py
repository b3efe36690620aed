"""OpenTelemetry of a command: `--otel` sends traces and metrics by OTLP over HTTP, as the variables `OTEL_…` set."""

import argparse
import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from heald.core.distribution import install_advice
from heald.core.errors import ConfigurationError

if TYPE_CHECKING:
    from heald.agent.telemetry import TelemetryReactor

_SECONDS = 5


class CommandTelemetry(msgspec.Struct, frozen=True):
    """The reactor of a command, and the end of its exporters."""

    reactor: "TelemetryReactor"
    _shutdowns: tuple[Callable[[], object], ...]

    async def close(self) -> None:
        """Send what is collected. Waits a few seconds at most for a collector that does not answer."""
        self.reactor.close()
        for shutdown in self._shutdowns:
            await asyncio.to_thread(shutdown)


def start_telemetry(options: argparse.Namespace) -> CommandTelemetry | None:
    """The telemetry that the options ask for, None without `--otel`."""
    if not options.otel_export:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigurationError(f"--otel needs OpenTelemetry: {install_advice('otel')}") from None
    from heald.agent.telemetry import TelemetryReactor  # without --otel it is not loaded

    named = Resource.create()
    is_unnamed = str(named.attributes.get(SERVICE_NAME, "")).startswith("unknown_service")
    resource = named.merge(Resource({SERVICE_NAME: "heald"})) if is_unnamed else named
    traces = TracerProvider(resource=resource, shutdown_on_exit=False)
    if os.environ.get("OTEL_TRACES_EXPORTER") != "none":
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=_SECONDS)))
    readers: list[MetricReader] = []
    if os.environ.get("OTEL_METRICS_EXPORTER") != "none":
        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter(timeout=_SECONDS)))
    meters = MeterProvider(readers, resource, shutdown_on_exit=False)
    reactor = TelemetryReactor(content=options.otel_content, tracer_provider=traces, meter_provider=meters)
    return CommandTelemetry(reactor, (traces.shutdown, meters.shutdown))

"""OpenTelemetry of a command: `--otel` sends what the variables `OTEL_…` name, over OTLP with HTTP."""

import argparse
from collections.abc import Generator
from contextlib import contextmanager

from weft.agent.telemetry import TelemetryReactor
from weft.core.errors import ConfigurationError

_SECONDS = 5


@contextmanager
def open_telemetry(options: argparse.Namespace) -> Generator[TelemetryReactor | None]:
    """The reactor of a command, None without `--otel`. What is collected is sent at the end of the block."""
    if not options.otel_export:
        yield None
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise ConfigurationError("--otel needs OpenTelemetry; run: pip install 'weft[otel]'.") from None
    named = Resource.create()
    is_unnamed = str(named.attributes.get(SERVICE_NAME, "")).startswith("unknown_service")
    resource = named.merge(Resource({SERVICE_NAME: "weft"})) if is_unnamed else named
    traces = TracerProvider(resource=resource, shutdown_on_exit=False)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=_SECONDS)))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(timeout=_SECONDS))
    meters = MeterProvider([reader], resource, shutdown_on_exit=False)
    reactor = TelemetryReactor(content=options.otel_content, tracer_provider=traces, meter_provider=meters)
    try:
        yield reactor
    finally:
        reactor.close()
        traces.shutdown()
        meters.shutdown()

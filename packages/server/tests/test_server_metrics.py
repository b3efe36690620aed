"""/metrics: read by the parser of Prometheus' own client."""

from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

import heald
from heald.core.errors import ConfigurationError, ProviderError
from heald_server.http.metrics import ServerMetrics
from heald_server.http.prometheus import Counter, Histogram
from heald_server.settings import ServerSettings, validate_settings
from serving_parts import TOKEN, S, Served, served

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def _parse(text: str) -> Samples:
    samples: Samples = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in samples
            samples[key] = sample.value
    return samples


async def _scrape(server: Served) -> Samples:
    async with server.client.get("/metrics") as answer:
        assert answer.status == 200
        assert answer.content_type == "text/plain"
        return _parse(await answer.text())


def _value(samples: Samples, name: str, labels: Mapping[str, str] | None = None) -> float:
    return samples[name, tuple(sorted((labels or {}).items()))]


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: snow"


def _model() -> heald.testing.ScriptedModel:
    return S([S.call("weather", city="Oslo"), "A coat.", [S.fail(ProviderError("No.", status=400))]])


async def test_exchanges_turns_tools_tokens_and_requests_are_counted(tmp_path: Path) -> None:
    async with served(tmp_path, _model, tools={"weather": weather}) as server:
        before = await _scrape(server)
        assert _value(before, "heald_exchanges_started_total") == 0
        session = await server.session()
        await server.ended(session, (await server.send(session))["exchange"])
        await server.ended(session, (await server.send(session))["exchange"])
        async with server.client.get("/sessions/ses_missing") as answer:
            assert answer.status == 404
        async with server.client.ws_connect("/ws"):
            samples = await _scrape(server)
    assert _value(samples, "heald_exchanges_started_total") == 2
    assert _value(samples, "heald_exchanges_total", {"status": "completed"}) == 1
    assert _value(samples, "heald_exchanges_total", {"status": "failed"}) == 1
    assert _value(samples, "heald_exchange_duration_seconds_count", {"status": "completed"}) == 1
    assert _value(samples, "heald_exchange_duration_seconds_bucket", {"status": "completed", "le": "+Inf"}) == 1
    assert _value(samples, "heald_turns_total", {"model": "scripted/model", "outcome": "ok"}) == 2
    assert _value(samples, "heald_first_token_seconds_count", {"model": "scripted/model"}) == 2
    assert _value(samples, "heald_tokens_total", {"model": "scripted/model", "kind": "output"}) > 0
    assert _value(samples, "heald_tool_calls_total", {"tool": "weather", "status": "ok"}) == 1
    assert sum(value for (name, _), value in samples.items() if name == "heald_errors_total") == 1
    assert _value(samples, "heald_cost_usd_total") == 0
    assert _value(samples, "heald_http_requests_total", {"method": "GET", "status": "404"}) == 1
    assert _value(samples, "heald_connections", {"kind": "websocket"}) == 1
    assert _value(samples, "heald_sessions_open") == 1
    assert _value(samples, "heald_exchanges_running") == 0
    assert _value(samples, "heald_build_info", {"version": heald.__version__}) == 1


@pytest.mark.parametrize(("opened", "status"), [(False, 401), (True, 200)])
async def test_without_a_token_only_programs_of_this_machine_may_be_allowed(
    tmp_path: Path, opened: bool, status: int
) -> None:
    settings = ServerSettings(port=0, open_metrics=opened)
    async with served(tmp_path, settings=settings) as server, aiohttp.ClientSession() as stranger:
        async with stranger.get(f"{server.url}/metrics") as answer:
            assert answer.status == status
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with stranger.get(f"{server.url}/metrics", headers=headers) as answer:
            assert answer.status == 200


def test_behind_a_proxy_a_token_is_needed() -> None:
    with pytest.raises(ConfigurationError, match="proxy"):
        validate_settings(ServerSettings(public_url="https://example.org/heald", open_metrics=True))


def test_labels_are_escaped_and_bounded() -> None:
    counter, histogram = Counter("a_total", "A.", "name"), Histogram("b_seconds", "B.", "name")
    hostile = 'a"b\\c\nd} 5'
    counter.add(hostile)
    for number in range(2000):
        counter.add(f"tool-{number}")
        histogram.observe(0.2, f"tool-{number}")
    heads = ["# HELP a_total A.", "# TYPE a_total counter", "# HELP b_seconds B.", "# TYPE b_seconds histogram"]
    lines = [*heads[:2], *counter.lines(), *heads[2:], *histogram.lines()]
    samples = _parse("\n".join(lines) + "\n")
    assert samples["a_total", (("name", hostile),)] == 1
    assert samples["a_total", (("name", "other"),)] > 1000
    assert sum(name == "b_seconds_count" for name, _ in samples) <= 501
    assert sum(value for (name, _), value in samples.items() if name == "b_seconds_count") == 2000
    assert _parse(ServerMetrics().render({}))

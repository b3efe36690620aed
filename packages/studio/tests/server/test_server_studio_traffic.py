"""What a growing file costs on the socket."""

from pathlib import Path

from studio_parts import atelier, variants_of

from heald.core.json import loads
from serving_parts import S

SIZE = 30_000
MOST = 90_000


def _file() -> str:
    """A page of 30 kB, as pages are: many lines, with quotes in them."""
    row = '      <li class="item"><a href="/boats/{0}">Boat number {0}</a> &mdash; "ready" to sail</li>\n'
    rows = "".join(row.format(number) for number in range(400))
    return f'<!doctype html>\n<html lang="en">\n<body>\n<ul>\n{rows}'[: SIZE - 8] + "</html>\n"


async def test_a_file_of_30_kb_in_deltas_of_8_bytes_costs_at_most_three_times_itself(tmp_path: Path) -> None:
    page = _file()
    assert len(page) == SIZE
    script = lambda: S([[S.call("create_file", path="index.html", content=page)], "Built."], piece=8)  # noqa: E731
    async with atelier(tmp_path, {"one": script}) as server:
        made = await server.project(models=["one"], variants=2)
        await server.over(made["id"])
        for variant in variants_of(made):
            seen = 0
            received = ""
            async with server.client.ws_connect("/ws") as socket:
                await socket.send_json({"type": "subscribe", "session": variant["session"]})
                async for message in socket:
                    event = loads(message.data)
                    if event["type"] == "file_preview":
                        seen += len(message.data.encode())
                        assert event["data"]["offset"] == len(received)
                        received += event["data"]["text"]
                    if event["type"] == "exchange_response":
                        break
            assert received == page
            assert SIZE < seen <= MOST, seen

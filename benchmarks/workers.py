"""What a delta costs a server with one worker and with several, and how late it reaches the client.

    python -m benchmarks.workers [--workers 1,2] [--agents 20,50,100] [--rounds 3]

The figure to compare is the CPU of a delta over all workers: N cores serve N × (that of one worker / that of N) as many
agents as one core does. Rows take turns. The figures go to results/workers.json.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from benchmarks.processes import enter_environment

enter_environment("benchmarks.workers")

from benchmarks.curve import commit_name  # noqa: E402
from benchmarks.report import machine  # noqa: E402
from benchmarks.served_figures import without_load  # noqa: E402
from benchmarks.served_path import CLIENTS, measure  # noqa: E402
from benchmarks.server import Process, percentile, start_program  # noqa: E402

RESULTS = Path(__file__).with_name("results") / "workers.json"
_ROWS = ("heald, native, SQLite", "heald, ag-ui, SQLite")
_DELTAS = 100


async def measure_all(workers: list[int], points: list[int], rounds: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    async with AsyncExitStack() as stack:
        provider = (await stack.enter_async_context(start_program("benchmarks.mock_server"))).url
        servers: dict[int, Process] = {}
        for number in workers:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            program = ["benchmarks.server_worker", "live", folder, provider, str(number)]
            servers[number] = await stack.enter_async_context(start_program(*program))
        for agents in points:
            for name in _ROWS:
                samples: dict[int, list[tuple[float, float, float]]] = {number: [] for number in workers}
                for _ in range(rounds):
                    for number in workers:
                        lags, cpu = await measure(CLIENTS[name], servers[number], agents, _DELTAS)
                        samples[number].append((cpu * 1e6, percentile(lags, 0.5), percentile(lags, 0.99)))
                first = min(cpu for cpu, _, _ in samples[workers[0]])
                for number, taken in samples.items():
                    cpu = min(sample[0] for sample in taken)
                    row: dict[str, object] = {
                        "row": name,
                        "agents": agents,
                        "workers": number,
                        "cpu_us": round(cpu, 1),
                        "times": round(number * first / cpu / workers[0], 2),
                        "median_ms": round(median(sample[1] for sample in taken), 1),
                        "p99_ms": round(median(sample[2] for sample in taken), 1),
                    }
                    rows.append(row)
                    print(
                        f"| {name} | {agents} | {number} | {row['cpu_us']} | {row['times']} × "
                        f"| {row['median_ms']} | {row['p99_ms']} |",
                        flush=True,
                    )
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--workers", default="1,2")
    options.add_argument("--agents", default="20,50,100")
    options.add_argument("--rounds", type=int, default=3)
    arguments = options.parse_args()
    workers = [int(part) for part in arguments.workers.split(",")]
    points = [int(part) for part in arguments.agents.split(",")]
    print("| row | agents | workers | CPU of a delta, µs | agents that N cores serve | median, ms | p99, ms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    rows = asyncio.run(measure_all(workers, points, arguments.rounds))
    figures = {
        "command": " ".join(["python -m benchmarks.workers", *sys.argv[1:]]),
        "commit": commit_name(),
        "machine": without_load(machine()),
        "measured": datetime.now(UTC).strftime("%Y-%m"),
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()

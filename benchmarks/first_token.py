"""How long a client waits for the first token of an answer: Heald, in each dialect, beside a bare proxy.

    python -m benchmarks.first_token [--cold 3] [--warm 30] [--rows "bare proxy,native"] [--json FILE]
    python -m benchmarks.first_token --quick     one cold and five warm requests, to see that all works

The mock provider answers at once, without TLS and over TLS. `cold` is the first request that a server process answers,
`warm` are the ones after it. Then the provider sends its first token later, with the time in it: how long that token
takes to the client says what the server adds once a model answers. Rows take turns. A whole run keeps its figures in
results/first_token.json.
"""

import argparse
import asyncio
import sys
from contextlib import suppress
from pathlib import Path

from benchmarks.processes import enter_environment

RESULTS = Path(__file__).with_name("results") / "first_token.json"


def _parse() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cold", type=int, default=3, help="fresh servers of each row (default: %(default)s)")
    options.add_argument("--warm", type=int, default=30, help="requests to each after the first (default: %(default)s)")
    options.add_argument("--rows", default="", help="rows whose names contain one of these texts, by commas")
    options.add_argument("--json", type=Path, metavar="FILE", help="store the figures here")
    options.add_argument("--quick", action="store_true", help="one cold and five warm requests")
    return options.parse_args()


def main() -> None:
    arguments = _parse()
    enter_environment("benchmarks.first_token")
    from benchmarks.first_token_table import measure_table, rows_of  # they need the packages of the environment

    is_whole = not (arguments.quick or arguments.rows)
    with suppress(KeyboardInterrupt):
        table = asyncio.run(
            measure_table(
                rows_of([part.strip() for part in arguments.rows.split(",") if part.strip()]),
                cold=1 if arguments.quick else arguments.cold,
                warm=5 if arguments.quick else arguments.warm,
                command=" ".join(["python -m benchmarks.first_token", *sys.argv[1:]]),
            )
        )
        print(table.as_markdown())
        place = arguments.json or (RESULTS if is_whole else None)
        if place is not None:
            table.store(place)


if __name__ == "__main__":
    main()

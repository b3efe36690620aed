"""Facts that a small model still knows after compactions, with a memory and without: python -m benchmarks.memory

Five facts are stated in a conversation with Qwen2.5-Coder-1.5B in a context of 4,096 tokens. Further requests fill it
until it was compacted so many times; then each fact is asked for. The same requests are made without a memory.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

import msgspec

import heald
from benchmarks.exercism.results import describe_run
from benchmarks.tasks.local_model import NAME, serve_local_model
from heald.events import ConversationCompacted, Event

WINDOW = 4096
FACTS = {
    "The staging server listens on port 7431.": ("Which port does the staging server listen on?", "7431"),
    "The billing module belongs to Ilse Brandt.": ("Who does the billing module belong to?", "Ilse Brandt"),
    "The release branch is called heron-12.": ("What is the release branch called?", "heron-12"),
    "We decided to use pnpm, not npm.": ("Which package manager did we decide to use?", "pnpm"),
    "My time zone is Europe/Lisbon.": ("What is my time zone?", "Lisbon"),
}
_TOPICS = ("a queue", "a hash table", "a binary tree", "a linked list", "a graph", "a heap", "a trie", "a stack")
_FILLER = "It is one of several parts of a course for beginners, who know loops and functions and little else. " * 25
_MAX_REQUESTS = 200


class MemoryRow(msgspec.Struct, frozen=True):
    """The outcome of one conversation."""

    memory: bool
    compactions: int
    requests: int
    right: int
    answers: dict[str, str]


async def converse(url: str, compactions: int, memory: heald.Memory | None) -> MemoryRow:
    """State the facts, fill the context until it was compacted so many times, and ask for the facts."""
    quirks = heald.providers.Quirks(context_size=WINDOW)
    events: list[Event] = []
    async with heald.Agent(
        heald.Model(NAME, base_url=url, api_key="none", quirks=quirks),
        strategies=[memory.strategy] if memory is not None else (),
        max_output_tokens=60,
        temperature=0.0,
    ) as agent:
        agent.subscribe(events.append, types=[ConversationCompacted.type])
        for statement in FACTS:
            await agent.run(statement)
        requests = len(FACTS)
        while len(events) < compactions and requests < _MAX_REQUESTS:
            topic = _TOPICS[requests % len(_TOPICS)]
            await agent.run(f"Say in one sentence what {topic} is. {_FILLER}")
            requests += 1
            print(f"  {requests} requests, {len(events)} compactions", file=sys.stderr)
        answers = {question: (await agent.run(f"{question} Answer shortly.")).text for question, _ in FACTS.values()}
    right = sum(value.casefold() in answers[question].casefold() for question, value in FACTS.values())
    return MemoryRow(memory is not None, len(events), requests + len(FACTS), right, answers)


async def measure(url: str, compactions: int, *, only_memory: bool) -> list[MemoryRow]:
    """Measure with a memory, and without."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [await converse(url, compactions, heald.Memory(Path(folder) / "facts.json"))]
    return rows if only_memory else [*rows, await converse(url, compactions, None)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compactions", type=int, default=10, metavar="N")
    parser.add_argument("--only-memory", action="store_true", help="do not measure without a memory")
    parser.add_argument("--url", help="base URL of a running server, instead of starting one")
    parser.add_argument("--results", type=Path, help="file for the table as JSON")
    parser.add_argument("--commit", help="the commit that is measured, where there is no repository")
    parser.add_argument("--server", default="", help="what serves the model, for the results")
    options = parser.parse_args()
    if options.url:
        rows = asyncio.run(measure(options.url, options.compactions, only_memory=options.only_memory))
    else:
        with serve_local_model() as url:
            rows = asyncio.run(measure(url, options.compactions, only_memory=options.only_memory))
    print("| memory | compactions | requests | facts known |\n|---|---|---|---|")
    for row in rows:
        print(f"| {'yes' if row.memory else 'no'} | {row.compactions} | {row.requests} | {row.right} of {len(FACTS)} |")
    print(json.dumps(msgspec.to_builtins(rows), indent=1), file=sys.stderr)
    if options.results is not None:
        facts = describe_run("memory", NAME, "facts", options.commit, options.server)
        options.results.write_text(json.dumps(facts | {"rows": msgspec.to_builtins(rows)}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

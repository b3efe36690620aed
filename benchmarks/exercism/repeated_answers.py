"""Replays the answers of a run, as `--transcript` keeps them, and stops those that repeat themselves, as Heald does.

    python -m benchmarks.exercism.repeated_answers TRANSCRIPTS --row heald --results stopped.json

Counts the answers that are stopped, and estimates by their characters what they cost until then.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.exercism.results import describe_run
from heald.wires.repetition import Repetition

_PIECE = 16  # characters of about four tokens


def read_answers(transcript: Path) -> Iterator[tuple[str, int, bool]]:
    """The streamed answers of a transcript: the text, its tokens, and whether the model ended it."""
    text, tokens, is_ended = "", 0, False
    for line in [*transcript.read_text("utf-8", "replace").splitlines(), '{"messages"']:
        if line.startswith('{"'):  # the request of the next answer
            if tokens:
                yield text, tokens, is_ended
            text, tokens, is_ended = "", 0, False
        elif line.startswith("data: {"):
            chunk = json.loads(line.removeprefix("data: "))
            tokens = (chunk.get("usage") or {}).get("completion_tokens") or tokens
            for choice in chunk["choices"]:
                text += choice["delta"].get("content") or ""
                is_ended = is_ended or choice["finish_reason"] == "stop"


def find_stop(text: str) -> int | None:
    """The characters after which an answer is stopped; None for one that is not."""
    repetition = Repetition()
    pieces = range(0, len(text), _PIECE)
    return next((at + _PIECE for at in pieces if repetition.follow(text[at : at + _PIECE])), None)


def replay(transcripts: Path, row: str) -> dict[str, Any]:
    """Replay all answers to a row."""
    counts = {"answers": 0, "stopped": 0, "stopped_that_end": 0, "tokens_out": 0, "tokens_until_stopped": 0}
    for transcript in sorted(transcripts.glob(f"*.{row}")):
        for text, tokens, is_ended in read_answers(transcript):
            stop = find_stop(text)
            counts["answers"] += 1
            counts["stopped"] += stop is not None
            counts["stopped_that_end"] += stop is not None and is_ended
            counts["tokens_out"] += tokens
            counts["tokens_until_stopped"] += tokens if stop is None else round(tokens * min(stop / len(text), 1))
    return {"row": row, **counts}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exercism.repeated_answers", description=__doc__)
    parser.add_argument("transcripts", type=Path)
    parser.add_argument("--row", action="append", required=True)
    parser.add_argument("--results", type=Path, required=True)
    options = parser.parse_args()
    facts = describe_run("exercism.repeated_answers", "qwen2.5-coder-1.5b", "redrawn", None, "")
    rows = [replay(options.transcripts, row) for row in options.row]
    options.results.write_text(json.dumps(facts | {"rows": rows}, indent=1) + "\n", "utf-8")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()

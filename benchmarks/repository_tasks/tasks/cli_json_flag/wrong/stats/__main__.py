"""Counts lines, words and characters of a file."""

import argparse
import json
from pathlib import Path

from stats.counting import count


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="stats", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="print a JSON object")
    options = parser.parse_args(arguments)
    result = count(options.file.read_text("utf-8"))
    if options.json:
        print(json.dumps(result))
        return
    print(f"{result.lines} lines, {result.words} words, {result.characters} characters")


if __name__ == "__main__":
    main()

"""A list of things to do: python todo.py --file FILE add TITLE | list"""

import argparse
import sys

from storage import read_entries, write_entries


def add(options):
    entries = read_entries(options.file)
    write_entries(options.file, [*entries, options.title])
    print(f"Added: {options.title}")
    return 0


def show(options):
    for number, title in enumerate(read_entries(options.file), start=1):
        print(f"{number}. {title}")
    return 0


def remove(options):
    entries = read_entries(options.file)
    if not 1 <= options.number <= len(entries):
        print(f"No entry {options.number}", file=sys.stderr)
        return 1
    title = entries.pop(options.number - 1)
    write_entries(options.file, entries)
    print(f"Removed: {title}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", default="todo.json")
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("add")
    command.add_argument("title")
    command.set_defaults(function=add)
    command = commands.add_parser("list")
    command.set_defaults(function=show)
    command = commands.add_parser("remove")
    command.add_argument("number", type=int)
    command.set_defaults(function=remove)
    options = parser.parse_args()
    return options.function(options)


if __name__ == "__main__":
    sys.exit(main())

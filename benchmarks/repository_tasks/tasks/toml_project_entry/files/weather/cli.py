"""Prints the weather of a city."""

import sys


def main():
    city = sys.argv[1] if len(sys.argv) > 1 else "London"
    print(f"{city}: 18 degrees")
    return 0

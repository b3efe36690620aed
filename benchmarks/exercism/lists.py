"""The exercises of the benchmark: names only, drawn once by a seed and frozen.

All practice exercises of exercism/python at commit 9eb657d45 were shuffled, without the deprecated ones and without
`ledger` and `markdown`, whose stubs pass their tests. The first 20 and the last 27 are for development: prompts and
parsing may be changed after looking at them. The 80 between them are measured, in this order, so that a run which was
cut short is a sample too.

The track has no more of them. `redrawn` is therefore drawn by a second seed: first the deprecated exercises, which no
run had used, then the measured ones in another order. `widened` is drawn by a third one: first the concept exercises,
which no run had used, then those of `redrawn` in another order; two concept exercises need a further file and are left
out.
"""

import json
import random
from pathlib import Path

SEED = 20261117
SECOND_SEED = 20261119
THIRD_SEED = 20261120
_PASSING_STUBS = ("ledger", "markdown")
_DEVELOPMENT = """
state-of-tic-tac-toe clock allergies dot-dsl diamond dnd-character hangman go-counting word-count hello-world
matrix atbash-cipher affine-cipher saddle-points high-scores gigasecond game-of-life nth-prime robot-name camicia
bank-account linked-list anagram ocr-numbers all-your-base list-ops transpose armstrong-numbers isogram
rna-transcription kindergarten-garden variable-length-quantity roman-numerals protein-translation simple-cipher
largest-series-product grains run-length-encoding line-up matching-brackets scale-generator alphametics luhn
killer-sudoku-helper complex-numbers grade-school wordy
"""
_MEASURED = """
pangram rotational-cipher knapsack meetup crypto-square change two-fer resistor-color-duo resistor-color-expert
phone-number proverb pig-latin circular-buffer raindrops eliuds-eggs pov connect satellite rational-numbers
scrabble-score darts say book-store series binary-search simple-linked-list relative-distance bob spiral-matrix
resistor-color palindrome-products sgf-parsing rectangles prime-factors sum-of-multiples poker square-root
secret-handshake hamming react perfect-numbers robot-simulator twelve-days queen-attack pascals-triangle
rail-fence-cipher etl resistor-color-trio tree-building house binary-search-tree word-search tournament
flatten-array paasio collatz-conjecture sieve bottle-song space-age forth sublist acronym triangle custom-set
rest-api two-bucket pythagorean-triplet grep dominoes swift-scheduling bowling zebra-puzzle zipper reverse-string
leap flower-field difference-of-squares isbn-verifier yacht food-chain
"""

_DEPRECATED = """
accumulate beer-song binary diffie-hellman error-handling hexadecimal minesweeper octal point-mutations strain trinary
"""
_CONCEPTS = """
black-jack card-games chaitanas-colossal-coaster currency-exchange electric-bill ellens-alien-game
ghost-gobble-arcade-game guidos-gorgeous-lasagna inventory-management little-sisters-essay little-sisters-vocab
locomotive-engineer log-levels making-the-grade meltdown-mitigation plane-tickets
pretty-leaflet restaurant-rozalynn tisbury-treasure-hunt
"""


def _redraw(seed: int, *parts: str) -> tuple[str, ...]:
    """Return the exercises of each part in the order of a seed, the first part first."""
    order = random.Random(seed)
    return tuple(slug for part in parts for slug in order.sample(part.split(), len(part.split())))


LISTS = {
    "development": tuple(_DEVELOPMENT.split()),
    "measured": tuple(_MEASURED.split()),
    "redrawn": _redraw(SECOND_SEED, _DEPRECATED, _MEASURED),
    "widened": _redraw(THIRD_SEED, _CONCEPTS, f"{_DEPRECATED} {_MEASURED}"),
}


def draw(checkout: Path) -> dict[str, tuple[str, ...]]:
    """Draw the lists anew from a checkout, as they were drawn."""
    listed = json.loads((checkout / "config.json").read_text("utf-8"))["exercises"]["practice"]
    slugs = sorted(entry["slug"] for entry in listed if entry.get("status") != "deprecated")
    slugs = [slug for slug in slugs if slug not in _PASSING_STUBS]
    order = random.Random(SEED).sample(slugs, len(slugs))
    return {"development": (*order[:20], *order[100:]), "measured": tuple(order[20:100])}

"""What the converter says: what it sees while it looks, what it did, and what it could not know."""

from collections import Counter
from collections.abc import Sequence

from weft.providers.local.model import Way
from weft.vision import Page, Progress, Seen

CANNOT = (
    "The local converter has no language model and cannot do this; set a key such as ANTHROPIC_API_KEY (or start "
    "Ollama) and choose its model, or ask for a page from a screenshot, for a small change (a colour, a text, a size, "
    "remove, duplicate), or for list, read, search or run."
)
_UNKNOWN = (
    "What a picture does not show I could not know: how things behave, states that are hidden, the exact fonts, and "
    "what words mean."
)
_WAYS: dict[Way, str] = {
    "fidelity": "fidelity first: sizes and places are those of the picture",
    "responsive": "semantic and responsive first: text flows and grids choose their columns, so that it is off by some "
    "pixels",
}
_STAGES = {
    "regions": "Looking at areas, borders and shadows",
    "finding text": "Finding text",
    "reading": "Reading",
    "typefaces": "Fitting typefaces",
    "pictures": "Cutting out pictures",
}


class Progressing:
    """How far the look is, in lines that do not repeat."""

    def __init__(self) -> None:
        self._said: set[tuple[str, int]] = set()

    def line(self, progress: Progress) -> str:
        """What is new; empty if nothing is."""
        words = _STAGES.get(progress.stage)
        quarter = int(progress.part * 4)
        if words is None or (progress.stage, quarter) in self._said:
            return ""
        first = not any(stage == progress.stage for stage, _ in self._said)
        self._said.add((progress.stage, quarter))
        if progress.part in (0.0, 1.0) and first:
            return f"{words}.\n"
        return f"{words}: {round(progress.part * 100)} %.\n"


def seen_text(seen: Seen) -> str:
    """What is on the picture."""
    sizes = Counter(round(text.style.size) for text in seen.texts)
    fills = Counter(box.fill for box in seen.boxes)
    longest = max((text for text in seen.texts), key=lambda text: text.style.size, default=None)
    lines = [f"I see a page of {seen.width} × {seen.height} px on {seen.background}: {counts(seen)}."]
    if longest is not None:
        lines.append(f"The largest text is “{longest.text[:80]}”, {round(longest.style.size)} px.")
    if sizes:
        lines.append(f"Text sizes: {_listed([f'{size} px' for size, _ in sizes.most_common(6)])}.")
    if fills:
        lines.append(f"Areas are filled with {_listed([fill for fill, _ in fills.most_common(6)])}.")
    return "\n".join([*lines, *seen.notes]) + "\n"


def counts(seen: Seen) -> str:
    return _listed(
        [_count(len(seen.texts), "text"), _count(len(seen.boxes), "box"), _count(len(seen.pictures), "picture")]
    )


def built_text(
    page: Page, path: str, way: Way, *, scores: Sequence[float] = (), remarks: Sequence[str] = (), rounds: int = 0
) -> str:
    """The last words about a page."""
    said = [f"I wrote {path} from the picture with local vision code, {_WAYS[way]}. It has {counts(page.seen)}."]
    if scores:
        mended = f" after {_count(rounds, 'round')} of mending (before: {scores[0]:.3f})" if rounds else ""
        said.append(f"Compared with the picture it scores {max(scores):.3f} of 1{mended}.")
    return " ".join([*said, *page.notes, *remarks, _UNKNOWN])


def not_written(path: str, why: str) -> str:
    return f"{path} was not written: {first_line(why)}"


def first_line(text: str, most: int = 300) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "no reason was given")
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}{'es' if thing == 'box' else 's'}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else "nothing"

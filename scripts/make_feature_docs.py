"""Writes the features in docs/providers.md from the declarations of wires and providers. `make docs` runs it, a test
checks it."""

import re
from pathlib import Path

from heald.providers.presets import PRESETS
from heald.wires.features import FEATURES, PASSED
from heald.wires.registry import WIRES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "providers.md"
_REGION = re.compile(r"(?<=<!-- features, made by make docs -->\n).*?(?=<!-- until here -->)", re.S)
_SHARED = ("bedrock-messages", "vertex-messages")
"""Wires that differ from `messages` in a few features only."""


def page(text: str) -> str:
    """The page with its table renewed."""
    return _REGION.sub(lambda _: table(), text)


def table() -> str:
    wires = [wire for wire in WIRES.values() if wire.name not in _SHARED]
    lines = [f"| | {' | '.join(wire.name for wire in wires)} |", f"|---|{'---|' * len(wires)}"]
    for name, feature in FEATURES.items():
        cells = (_cell(wire.features.get(name)) for wire in wires)
        lines.append(f"| {feature.title} | {' | '.join(cells)} |")
    lines += ["", *(_difference(name) for name in _SHARED), *_missing()]
    return "\n" + "\n".join(lines) + "\n\n"


def _cell(place: str | None) -> str:
    if place is None:
        return "–"
    return "`extra`" if place == PASSED else f"yes: {_code(place)}"


def _code(place: str) -> str:
    """The place as code; a remark in brackets behind it stays text."""
    field, bracket, remark = place.partition(" (")
    return f"`{field}`{bracket}{remark}"


def _difference(name: str) -> str:
    features, others = WIRES[name].features, WIRES["messages"].features
    missing = [FEATURES[feature].title for feature in others if feature not in features]
    changed = [
        f"{FEATURES[feature].title} is {_cell(place)}"
        for feature, place in features.items()
        if others.get(feature) != place
    ]
    return f"- `{name}` is `messages` without {', '.join(missing)}; {', '.join(changed)}."


def _missing() -> list[str]:
    """What providers lack of their wire, one line for those that lack the same."""
    providers: dict[tuple[str, str], list[str]] = {}
    for endpoint in PRESETS:
        if endpoint.quirks.without:
            titles = ", ".join(FEATURES[feature].title for feature in endpoint.quirks.without)
            providers.setdefault((endpoint.wire, titles), []).append(f"`{endpoint.provider}`")
    return [f"- {', '.join(names)}: `{wire}` without {titles}." for (wire, titles), names in providers.items()]


def main() -> None:
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()

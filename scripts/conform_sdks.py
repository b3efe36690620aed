"""Compares the wires with the types of the newest SDK packages, and writes docs/wire-currency.md. `make conform-sdks`
runs it: the packages are installed into a cache folder, and nothing of Heald depends on them.

It fails on a word of an SDK that the wires do not know and scripts/sdks/decisions.toml does not decide, on a decision
that no longer applies, and on a request body that an SDK's types refuse.
"""

import argparse
import json
import os
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from sdks.known_words import PROVIDERS as PROVIDERS_OF
from sdks.known_words import SOURCES
from sdks.scenarios import FORMS, PROVIDERS, SCENARIOS, build_body

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).resolve().parent / "sdks"
PAGE = ROOT / "docs" / "wire-currency.md"
PACKAGES = ("openai", "anthropic", "google-genai", "mistralai", "groq", "botocore", "ollama", "pydantic")
ACTIONS = ("ignored", "shown", "extra", "not offered", "cut off", "final")


class Decision(NamedTuple):
    sdk: str
    groups: tuple[str, ...]
    action: str
    because: str
    words: tuple[str, ...]


class Beyond(NamedTuple):
    """Fields that are sent although an SDK's types do not have them."""

    providers: tuple[str, ...]
    fields: tuple[str, ...]
    because: str


class Bodies(NamedTuple):
    built: list[dict[str, Any]]
    refused: list[tuple[str, str, str]]
    """Provider, scenario and the sentence with which Heald refuses it."""

    def of_sdk(self, sdk: str) -> list[dict[str, Any]]:
        return [case["body"] for case in self.built if case["provider"] in PROVIDERS_OF[sdk]]


def read_decisions() -> tuple[list[Decision], list[Beyond]]:
    document = tomllib.loads((FOLDER / "decisions.toml").read_text("utf-8"))
    decisions = [
        Decision(
            entry["sdk"],
            (entry["group"],) if isinstance(entry["group"], str) else tuple(entry["group"]),
            entry["action"],
            entry["because"].strip(),
            tuple(entry["words"]),
        )
        for entry in document["decision"]
    ]
    beyond = [
        Beyond(tuple(entry["providers"]), tuple(entry["fields"]), entry["because"].strip())
        for entry in document["beyond"]
    ]
    return decisions, beyond


def build_bodies() -> Bodies:
    """Build the request of every scenario for every provider."""
    bodies = Bodies([], [])
    for provider in PROVIDERS:
        for scenario in SCENARIOS:
            body = build_body(provider, scenario)
            if isinstance(body, str):
                bodies.refused.append((provider, scenario, body))
            else:
                bodies.built.append({"provider": provider, "scenario": scenario, "body": body})
    for form, (provider, convert) in FORMS.items():
        bodies.built.extend(
            {**case, "provider": form, "body": convert(case["body"])}
            for case in list(bodies.built)
            if case["provider"] == provider
        )
    return bodies


def find_stale(decisions: list[Decision], bodies: Bodies) -> Iterator[str]:
    """Decisions about words that the wires know by now, or about groups that do not exist."""
    for decision in decisions:
        if decision.action not in ACTIONS:
            yield f"{decision.sdk}: there is no action {decision.action!r}"
        sources = SOURCES.get(decision.sdk, {})
        unknown = [group for group in decision.groups if group not in sources]
        yield from (f"{decision.sdk}: there is no group {group!r}" for group in unknown)
        sent = bodies.of_sdk(decision.sdk)
        for word in decision.words if not unknown else ():
            if all(sources[group](word, sent) for group in decision.groups):
                yield f"{decision.sdk}, {', '.join(decision.groups)}: {word!r} is decided and known"


class Comparison(NamedTuple):
    """The words of one group of an SDK."""

    sdk: str
    package: str
    group: str
    read: list[str]
    """Words that the wires know."""
    decided: list[tuple[str, Decision]]
    undecided: list[str]


def compare(vocabulary: Any, decisions: list[Decision], bodies: Bodies) -> list[Comparison]:
    comparisons: list[Comparison] = []
    for sdk, entry in vocabulary.items():
        sent = bodies.of_sdk(sdk)
        for group, words in entry["groups"].items():
            knows = SOURCES[sdk][group]
            comparison = Comparison(sdk, entry["package"], group, [], [], [])
            for word in words:
                decision = next((d for d in decisions if d.sdk == sdk and group in d.groups and word in d.words), None)
                if knows(word, sent):
                    comparison.read.append(word)
                elif decision is not None:
                    comparison.decided.append((word, decision))
                else:
                    comparison.undecided.append(word)
            comparisons.append(comparison)
    return comparisons


def find_gone(vocabulary: Any, decisions: list[Decision]) -> Iterator[str]:
    """Decided words that no SDK has any more."""
    for decision in decisions:
        groups = vocabulary[decision.sdk]["groups"]
        words = {word for group in decision.groups for word in groups[group]}
        for word in decision.words:
            if word not in words:
                yield f"{decision.sdk}: {word!r} is decided, and the SDK does not have it any more"


def remove_beyond(case: dict[str, Any], beyond: list[Beyond]) -> dict[str, Any]:
    """The case without fields that are sent on purpose although the types do not have them."""
    fields = {field for entry in beyond if case["provider"] in entry.providers for field in entry.fields}
    return {**case, "body": {name: value for name, value in case["body"].items() if name not in fields}}


def make_environment(folder: Path, *, upgrade: bool) -> Path:
    """Install the newest SDK packages. Returns the interpreter."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        upgrade = True
    if upgrade:
        install = [str(python), "-m", "pip", "install", "--quiet", "--upgrade", *PACKAGES]
        subprocess.run(install, check=True)
    return python


def ask(python: Path, script: str, payload: Any = None) -> Any:
    """Run a script of scripts/sdks in the environment of the SDKs, and read the JSON that it prints."""
    text = None if payload is None else json.dumps(payload)
    run = subprocess.run([str(python), str(FOLDER / script)], input=text, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise SystemExit(f"{script} failed:\n{run.stderr}")
    return json.loads(run.stdout)


_HEAD = """# Wires and the newest SDKs

Every wire is compared with the types of the provider's own Python package: the events of a stream, the blocks of an
answer, stop reasons, tools and request fields. `make conform-sdks` installs the newest packages into a cache folder,
makes this page, and fails on a word that is neither known nor decided. The decisions are in
`scripts/sdks/decisions.toml`.

| action | meaning |
|---|---|
| ignored | it holds nothing that the log or a reader needs, or repeats what other words hold |
| shown | it is reported without being named: a note, or the event of its kind |
| extra | [`Settings.extra`](providers.md) carries it |
| not offered | Heald does not request it |
| cut off | the answer counts as interrupted, none of its calls run, and the reason is in the log |
| final | the error ends the turn with the provider's words and is not retried |
"""


def write_page(comparisons: list[Comparison], bodies: Bodies, errors: list[Any], beyond: list[Beyond]) -> str:
    lines = [
        _HEAD,
        "## Words",
        "",
        "| wire of | package | group | words | known | decided | undecided |",
        "|---|---|---|---|---|---|---|",
    ]
    for comparison in comparisons:
        counts = len(comparison.read), len(comparison.decided), len(comparison.undecided)
        cells = (comparison.sdk, comparison.package, comparison.group, str(sum(counts)), *map(str, counts))
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "## Decisions", ""]
    for sdk in dict.fromkeys(comparison.sdk for comparison in comparisons):
        lines += [f"### {sdk}", "", "| words | group | action | because |", "|---|---|---|---|"]
        grouped: dict[tuple[Decision, str], list[str]] = {}
        for comparison in comparisons:
            for word, decision in comparison.decided if comparison.sdk == sdk else ():
                grouped.setdefault((decision, comparison.group), []).append(word)
        for (decision, group), words in grouped.items():
            code = ", ".join(f"`{word}`" for word in words)
            lines.append(f"| {code} | {group} | {decision.action} | {decision.because} |")
        lines.append("")
    return "\n".join([*lines, *_body_lines(bodies, errors, beyond), ""])


def _body_lines(bodies: Bodies, errors: list[Any], beyond: list[Beyond]) -> list[str]:
    """The section about request bodies."""
    built = Counter(case["provider"] for case in bodies.built)
    invalid = Counter(error["provider"] for error in errors)
    refused = Counter(provider for provider, _, _ in bodies.refused)
    lines = [
        "## Request bodies",
        "",
        f"{len(SCENARIOS)} scenarios, each as the request that a provider gets, checked by the provider's own types. "
        "A scenario that an API has no form for is refused by Heald with a sentence before anything is sent.",
        "",
        "| provider | model | bodies | valid | refused by Heald |",
        "|---|---|---|---|---|",
    ]
    models = PROVIDERS | {form: PROVIDERS[provider] for form, (provider, _) in FORMS.items()}
    for provider, model in models.items():
        valid = built[provider] - invalid[provider]
        lines.append(f"| {provider} | `{model}` | {built[provider]} | {valid} | {refused[provider]} |")
    lines += ["", f"Scenarios: {'; '.join(SCENARIOS)}.", "", "Sent although the types do not have them:", ""]
    for entry in beyond:
        names = ", ".join(f"`{field}`" for field in entry.fields)
        lines.append(f"- {names} ({', '.join(entry.providers)}): {entry.because}")
    return lines


def main() -> None:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "heald-sdks"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", type=Path, default=cache, help="the folder of the environment with the SDKs")
    parser.add_argument("--offline", action="store_true", help="use the packages that are installed there")
    parser.add_argument("--check", action="store_true", help="do not write the page")
    options = parser.parse_args()
    python = make_environment(options.environment, upgrade=not options.offline)
    decisions, beyond = read_decisions()
    bodies = build_bodies()
    vocabulary = ask(python, "vocabulary.py")
    comparisons = compare(vocabulary, decisions, bodies)
    errors = ask(python, "validate.py", [remove_beyond(case, beyond) for case in bodies.built])
    if not options.check:
        PAGE.write_text(write_page(comparisons, bodies, errors, beyond), "utf-8")
    faults = [f"{c.sdk}, {c.group}: {word!r} is neither known nor decided" for c in comparisons for word in c.undecided]
    faults += [*find_stale(decisions, bodies), *find_gone(vocabulary, decisions)]
    faults += [f"{error['provider']}, {error['scenario']}: {error['error']}" for error in errors]
    words = sum(len(c.read) + len(c.decided) + len(c.undecided) for c in comparisons)
    print(
        f"{len(vocabulary)} SDKs, {words} words: {sum(len(c.read) for c in comparisons)} known, "
        f"{sum(len(c.decided) for c in comparisons)} decided, {sum(len(c.undecided) for c in comparisons)} undecided; "
        f"{len(bodies.built)} request bodies of {len(SCENARIOS)} scenarios, {len(errors)} invalid"
    )
    if faults:
        raise SystemExit("\n".join(faults))


if __name__ == "__main__":
    main()

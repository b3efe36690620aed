"""Writes the pages of `heald build`, and prints the result."""

import argparse
import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from heald.commands.amounts import format_seconds, format_usd
from heald.commands.status_text import status_text
from heald.commands.terminal import print_note
from heald.commands.text_columns import align_columns
from heald.core.errors import ConfigurationError
from heald.core.json import encode_text
from heald_studio.commands.local_studio import OWNER
from heald_studio.commands.score_text import format_score

if TYPE_CHECKING:
    from heald_studio.design.adherence import DesignScore
    from heald_studio.projects.project import Project, Variant, Version
    from heald_studio.studio import Studio


async def write_variants(
    studio: "Studio", project: str, version: "Version", out: Path, force: bool
) -> list[tuple["Variant", Path | None, list[str]]]:
    """Write the variants, the best first. Returns each with its folder and files."""
    from heald_studio.export.offline import offline_project
    from heald_studio.projects.project import VariantRef

    stack = studio.find_stack((await studio.get(OWNER, project)).stack)
    built: list[tuple[Variant, Path | None, list[str]]] = []
    for number, variant in enumerate(best_first(version.variants), 1):
        files = await studio.files(OWNER, project, VariantRef(version.id, variant.index))
        folder = out / str(number) if len(version.variants) > 1 else out
        if not files or (variant.error is not None and variant.turns == 0):
            built.append((variant, None, []))
            continue
        offline = await offline_project(stack, files)
        folder, paths = await asyncio.to_thread(_write_files, offline, folder, force)
        built.append((variant, folder, paths))
    return built


def _write_files(files: Mapping[str, str | bytes], folder: Path, force: bool) -> tuple[Path, list[str]]:
    """Write a page. One that cannot be written to its folder goes into one for temporary files."""
    from heald.tools.workspace.path_errors import ADVICE_TO_MODEL
    from heald.tools.workspace.paths import PathFault
    from heald_studio.export.files import write_project

    try:
        return folder, write_project(files, folder, replace=force)
    except PathFault as fault:
        reason = str(fault).removesuffix(ADVICE_TO_MODEL)
        other = Path(tempfile.mkdtemp(prefix="heald-build-"))
        try:
            paths = write_project(files, other)
        except PathFault:
            raise ConfigurationError(f"The page could not be written to {folder}: {reason}") from None
        print_note(f"The page could not be written to {folder}: {reason} It is in {other} instead.")
        return other, paths


def best_first(variants: Sequence["Variant"]) -> list["Variant"]:
    def rank(variant: "Variant") -> tuple[bool, float, int]:
        scored = variant.score.overall if variant.score is not None else -1.0
        return variant.status == "completed", scored, -variant.index

    return sorted(variants, key=rank, reverse=True)


def print_result(
    options: argparse.Namespace,
    project: "Project",
    built: Sequence[tuple["Variant", Path | None, list[str]]],
    designs: "Mapping[int, DesignScore]",
) -> None:
    """Print the variants; `designs` are their scores against the design system, by index."""
    if options.json:
        stored = project.id if options.data is not None else None
        variants = [_as_json(variant, folder, files, designs.get(variant.index)) for variant, folder, files in built]
        print(encode_text({"project": stored, "stack": project.stack, "variants": variants}))
        return
    table: list[list[str]] = []
    for variant, folder, _ in built:
        if folder is not None:
            status = status_text(variant.status)
            score = format_score(variant.score, variant.draft_score) if variant.score is not None else status
            duration = format_seconds(max((variant.ended or 0) - (variant.started or 0), 0))
            table.append([f"{folder}/", variant.model, score, duration, format_usd(variant.cost_usd)])
        if variant.error is not None:
            continue
        if _is_unchanged(variant):
            print_note(f"Variant {variant.index + 1} ({variant.model}): {variant.note}")
        elif variant.status == "limit":
            print_note(f"Variant {variant.index + 1} ({variant.model}) is not complete: {variant.note}")
    _print_failures([variant for variant, _, _ in built if variant.error is not None])
    for line in align_columns(table):
        print(line)
    if not table and all(variant.error is None for variant, _, _ in built):
        for variant, _, _ in built:
            print_note(f"Nothing was built with {variant.model}: {_why_nothing(variant)}")


def print_sources(sources: Sequence[str], *, is_named: bool) -> None:
    """Print what the local converter took the pictures for, and how to correct it unless it was named."""
    for source in sources:
        print_note(source if is_named else f"{source} Use --as page, sketch or photo if it is not.")


def _print_failures(variants: Sequence["Variant"]) -> None:
    """Print why variants failed, each reason once."""
    reasons: dict[str, list[Variant]] = {}
    for variant in variants:
        if variant.error is not None:
            reasons.setdefault(variant.error.message, []).append(variant)
    for reason, failed in reasons.items():
        numbers = ", ".join(str(variant.index + 1) for variant in failed)
        models = ", ".join(dict.fromkeys(variant.model for variant in failed))
        print_note(f"Variant{'s' if len(failed) > 1 else ''} {numbers} ({models}) failed: {reason}")


def _is_unchanged(variant: "Variant") -> bool:
    """Whether the files that were to be changed are as they were."""
    from heald_studio.projects.variant_outcome import NOTHING_CHANGED

    return variant.note is not None and variant.note.startswith(NOTHING_CHANGED)


def _why_nothing(variant: "Variant") -> str:
    """Explain why a variant that did not fail has no files."""
    if variant.note:
        return variant.note
    if variant.status != "completed":
        return f"it was {status_text(variant.status)}."
    return "the model answered and wrote no file; try another model, or a request that describes what to build."


def _as_json(
    variant: "Variant", folder: Path | None, files: list[str], design: "DesignScore | None"
) -> dict[str, object]:
    from msgspec import to_builtins

    return {
        "folder": str(folder) if folder is not None else None,
        "files": files,
        "model": variant.model,
        "status": variant.status,
        "score": to_builtins(variant.score),
        "draft_score": to_builtins(variant.draft_score),
        "design_score": to_builtins(design),
        "seconds": round(max((variant.ended or 0) - (variant.started or 0), 0), 3),
        "turns": variant.turns,
        "usage": cast(dict[str, object], to_builtins(variant.usage)),
        "cost_usd": variant.cost_usd,
        "error": variant.error.message if variant.error is not None else None,
        "note": variant.note,
    }


def exit_status(built: Sequence[tuple["Variant", Path | None, list[str]]]) -> int:
    """Return the exit status of `heald build`."""
    statuses = {variant.status for variant, _, _ in built}
    if "cancelled" in statuses:
        return 130
    complete = [variant for variant, folder, _ in built if variant.status == "completed" and folder is not None]
    if any(not _is_unchanged(variant) for variant in complete):
        return 0
    return 3 if "limit" in statuses else 1

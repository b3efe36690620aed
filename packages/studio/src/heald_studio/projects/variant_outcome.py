"""The outcome of a variant: the fields that it sets in the project, and the sentences that describe it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from heald.agent.result import AgentResult
from heald.core.events import ExchangeResponse
from heald.core.messages import Message, user_message
from heald_studio.default_models import LOCAL_ALTERNATIVES, LOCAL_MODEL
from heald_studio.projects.actions import without_try
from heald_studio.projects.project import Project, Variant, VariantRef, find_version, finished_try

if TYPE_CHECKING:
    from heald_studio.score.score import Score

_LONGEST_ANSWER = 300  # characters of a model's answer that are quoted


def fields_of(outcome: AgentResult | ExchangeResponse, cost: float | None) -> dict[str, Any]:
    """Return the fields of a variant that an ended exchange sets."""
    fields = {name: getattr(outcome, name) for name in ("status", "turns", "usage", "error", "note")}
    return {**fields, "cost_usd": cost}


def with_changes(project: Project, version: str, variant: Variant, changes: Mapping[str, Any]) -> Project:
    """Return the project with a changed try of a variant; unchanged if it has no such try.

    A try that ends without a page, or is stopped, leaves the finished one before it chosen.
    """
    current = find_version(project, VariantRef(version, variant.index))
    stored = next((other for other in current.variants if other.index == variant.index), None)
    if stored is None or all(other.session != variant.session for other in stored.tries):
        return project
    changed = msgspec.structs.replace(stored.choose_try(variant.session), **changes)
    is_lost = changed.is_done and changed.status != "completed"
    former = finished_try(changed) if is_lost and "status" in changes else None
    chosen = former.session if former is not None and stored.session == variant.session else stored.session
    variants = [changed.choose_try(chosen) if other.index == variant.index else other for other in current.variants]
    updated = project.with_version(msgspec.structs.replace(current, variants=variants))
    return without_try(updated, variant.session) if former is not None else updated


def with_title(project: Project, title: str) -> Project:
    """Return the project with the title of its page, unless somebody named it meanwhile."""
    return project if project.named else msgspec.structs.replace(project, title=title, named=True)


def describe_missing_page(model: str, answer: str) -> str:
    """Describe why a variant without a page failed, and what to do."""
    if model in (LOCAL_MODEL, *LOCAL_ALTERNATIVES):
        return "The local converter builds pages from pictures only: attach a screenshot, or set a provider's key."
    return (
        "The model wrote no page; retry it, describe the page in more words, or choose another model."
        f"{_describe_answer(answer)}"
    )


NOTHING_CHANGED = "Nothing was changed."


def describe_no_change(answer: str) -> str:
    """Describe why the files of a request are as they were: what the model answered."""
    return f"{NOTHING_CHANGED}{_describe_answer(answer)}"


def describe_kept_draft(answer: str) -> str:
    """Describe why a variant is the draft as it was: what the model answered."""
    return f"The model left the draft as it was.{_describe_answer(answer)}"


def _describe_answer(answer: str) -> str:
    words = " ".join(answer.split())
    return f" It answered: {words[:_LONGEST_ANSWER]}{'…' if len(words) > _LONGEST_ANSWER else ''}" if words else ""


def add_costs(cost: float | None, before: float | None) -> float | None:
    return None if cost is None or before is None else cost + before


def repair_message(score: "Score") -> Message:
    """Make the request of a second exchange from the remaining differences."""
    lines = "\n".join(f"- {difference.sentence}" for difference in score.differences[:12])
    head = "The page was rendered and compared with the picture. What differs most:"
    return user_message(f"{head}\n{lines}\n\nCorrect these differences.")

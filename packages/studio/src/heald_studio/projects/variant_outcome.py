"""The outcome of a variant: the fields that it sets in the project, and the sentences that describe it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from heald.agent.result import AgentResult
from heald.core.events import ExchangeResponse
from heald.core.messages import Message, user_message
from heald_studio.default_models import LOCAL_ALTERNATIVES, LOCAL_MODEL
from heald_studio.projects.project import Project, Variant, VariantRef, change_variant, find_version

if TYPE_CHECKING:
    from heald_studio.score.score import Score


def fields_of(outcome: AgentResult | ExchangeResponse, cost: float | None) -> dict[str, Any]:
    """Return the fields of a variant that an ended exchange sets."""
    fields = {name: getattr(outcome, name) for name in ("status", "turns", "usage", "error", "note")}
    return {**fields, "cost_usd": cost}


def with_changes(project: Project, version: str, variant: Variant, changes: Mapping[str, Any]) -> Project:
    """Return the project with a changed variant; unchanged if the variant was retried meanwhile."""
    current = find_version(project, VariantRef(version, variant.index))
    if all(other.session != variant.session for other in current.variants):
        return project
    return project.with_version(change_variant(current, variant.index, **changes))


def with_title(project: Project, title: str) -> Project:
    """Return the project with the title of its page, unless somebody named it meanwhile."""
    return project if project.named else msgspec.structs.replace(project, title=title, named=True)


def describe_missing_page(model: str, answer: str) -> str:
    """Describe why a variant without a page failed, and what to do."""
    if model in (LOCAL_MODEL, *LOCAL_ALTERNATIVES):
        return "The local converter builds pages from pictures only: attach a screenshot, or set a provider's key."
    words = " ".join(answer.split())
    reply = f" It answered: {words[:300]}{'…' if len(words) > 300 else ''}" if words else ""
    return f"The model wrote no page; retry it, describe the page in more words, or choose another model.{reply}"


def add_costs(cost: float | None, before: float | None) -> float | None:
    return None if cost is None or before is None else cost + before


def repair_message(score: "Score") -> Message:
    """Make the request of a second exchange from the remaining differences."""
    lines = "\n".join(f"- {difference.sentence}" for difference in score.differences[:12])
    head = "The page was rendered and compared with the picture. What differs most:"
    return user_message(f"{head}\n{lines}\n\nCorrect these differences.")

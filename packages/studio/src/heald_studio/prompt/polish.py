"""The request to polish a draft: the original request with the files of the draft and its differences."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from heald.core.messages import File, Message, Text
from heald_pictures.design_request import design_of
from heald_studio.prompt.build import MAX_PROMPT, list_files
from heald_studio.prompt.history import PICTURE_CHARACTERS, decode_text
from heald_studio.prompt.texts import PromptTexts

if TYPE_CHECKING:
    from heald_studio.score.changed_regions import ChangedRegion
    from heald_studio.score.score import Score


class DraftComparison(msgspec.Struct, frozen=True):
    """How a draft differs from its picture."""

    score: "Score"
    regions: "Sequence[ChangedRegion]"

    @property
    def differs(self) -> bool:
        return self.score.red or bool(self.score.differences)

    def describe(self) -> str:
        """Describe the figures, the differences that have a name, and the regions that changed."""
        from heald_studio.tools.compare import describe_score  # a server starts without numpy

        lines = [describe_score(self.score)]
        if self.regions:
            lines.append("Regions that look different, with their place (x, y, width, height):")
            lines += [f"- {region.sentence} [{', '.join(map(str, region.box))}]" for region in self.regions]
        return "\n".join(lines)


def polish_message(
    message: Message,
    files: Mapping[str, bytes],
    comparison: DraftComparison | None,
    texts: PromptTexts,
    *,
    budget: int = MAX_PROMPT,
) -> Message:
    """Return the request of a new page as one that changes a draft of it. No comparison: the draft was not rendered."""
    design = design_of(message)
    scaffold = {span.block for span in design.files} if design is not None else set[int]()
    content = [part for number, part in enumerate(message.content) if number not in scaffold]
    described = comparison.describe() if comparison is not None else ""
    request = Text(f"\n\n{texts.render('polish', comparison=described)}")
    sources = {path: text for path, data in files.items() if (text := decode_text(data)) is not None}
    assets = [path for path in files if path not in sources]
    size = sum(len(part.text) if isinstance(part, Text) else PICTURE_CHARACTERS for part in [*content, request])
    listing, _ = list_files(sources, assets, budget - size)
    before = Text(f"{texts.render('files', files=listing)}\n\n")
    return msgspec.structs.replace(message, content=[before, *content, request], structured=None)


def asks_for_more(message: Message) -> bool:
    """Whether a request says more than its pictures do."""
    return bool((message.said or "").strip()) or any(isinstance(part, File) for part in message.content)

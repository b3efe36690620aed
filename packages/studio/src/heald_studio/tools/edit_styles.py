"""The tool `edit_styles`: changes declarations of the page's style sheet, without repeating what is there."""

from heald.core.json import JsonObject
from heald.tools.context import ToolContext
from heald.tools.definitions import Access, Tool
from heald.tools.files.access import publish_changes
from heald.tools.function_tools import tool
from heald.tools.tool_fault import ToolFault
from heald.tools.tool_output import NO_CHANGE, ToolOutput
from heald_studio.tools.context import FindContext, read_page_files
from heald_studio.tools.save_assets import text_files
from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.merged_rules import merge_rules


def styles_tool(find: FindContext) -> Tool:
    @tool(
        name="edit_styles",
        effect="write",
        access=lambda _: [Access(resource="file:", changes=True)],
        subjects=lambda arguments: [str(arguments.get("page") or "")],
        summary=_summary,
    )
    async def edit_styles(css: str, ctx: ToolContext, page: str = "") -> ToolOutput:
        """Change how parts of the page look, by CSS rules with only the declarations that differ.

        A rule of the style sheet with the same selector keeps its other declarations. A rule that is not there is
        added. Put all changes into one call.

        Args:
            css: The rules, such as ".card{padding:8px}.title,.price{color:#123}". No comments, no spaces needed.
            page: The file of the page; the first page if it is left out.
        """
        work = await find()
        texts = text_files(read_page_files(ctx.workspace, work.stack))
        first = work.stack.entry if work.stack.entry in texts else "index.html"
        if page and page not in texts:
            raise ToolFault(f"There is no page {page}.", "not_found")
        try:
            merged = merge_rules(texts, page or first, css)
        except CannotEdit as error:
            raise ToolFault(str(error)) from None
        for path, text in merged.texts.items():
            ctx.workspace.write(path, text, on_change=publish_changes(ctx))
        if not merged.texts:
            return ToolOutput(content="The style sheet says so already; nothing was changed.", summary=NO_CHANGE)
        counts = f"{merged.changed} changed, {merged.added} added"
        return ToolOutput(content=f"Rules: {counts}, in {', '.join(merged.texts)}.", summary=counts)

    return edit_styles


def _summary(arguments: JsonObject) -> str:
    return f"Change styles of {arguments.get('page') or 'the page'}"

"""Shows a question of a model or of an MCP server, with the answers that it suggests."""

from heald.commands.terminal import BOLD, YELLOW, Colours, terminal_size
from heald.core.events import QuestionAsked
from heald.tools.visible_text import describe_hidden, escape_line, excerpt
from heald_cli.escaped_rows import lay_out, note_lines

_CHARACTERS, _LINES = 10_000, 60


def question_lines(question: QuestionAsked, head: str, paint: Colours, columns: int | None = None) -> list[str]:
    """Return the question after `head`, and the numbered suggestions."""
    columns = columns or terminal_size().columns - 1
    lines = lay_out(
        excerpt(question.text, characters=_CHARACTERS, lines=_LINES).rows, head, paint, columns, YELLOW, BOLD
    )
    for number, suggestion in enumerate(question.suggestions, 1):
        lines += lay_out([escape_line(suggestion)], f"  {number}. ", paint, columns)
    notes = [note for text in (question.text, *question.suggestions) for note in describe_hidden(text)]
    return [*lines, *note_lines(list(dict.fromkeys(notes)), paint, columns, YELLOW)]

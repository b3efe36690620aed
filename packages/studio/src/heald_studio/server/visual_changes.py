"""Reads changes of elements from a request."""

from heald_studio.server import bodies
from heald_studio.visual.edit_elements import Move, VisualChange
from heald_studio.visual.locate import RenderedElement


def read_change(body: bodies.ElementChangeBody) -> VisualChange:
    """Return the change that a request describes."""
    move = body.move
    return VisualChange(
        element=_read_element(body.element),
        text=body.text,
        before=body.before,
        style=body.style,
        rules=body.rules,
        attributes=dict(body.attributes.items()),
        move=None if move is None else Move(target=_read_element(move.target), place=move.place),
    )


def _read_element(body: bodies.RenderedBody) -> RenderedElement:
    return RenderedElement(path=body.path, source=body.source, template=body.template)

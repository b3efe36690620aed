"""Edits attributes of a start tag; everything around the value stays as it is."""

from html import escape

from heald_studio.visual.cannot_edit import CannotEdit
from heald_studio.visual.locate import Located
from heald_studio.visual.text_replacement import TextReplacement


def set_attribute(located: Located, name: str, value: str) -> list[TextReplacement]:
    """Return the replacements that give an attribute a value; an empty value removes it."""
    element, source = located.element, located.source
    attribute = element.attributes.get(name)
    if attribute is None:
        if element.syntax != "jsx" and (f":{name}" in element.attributes or f"v-bind:{name}" in element.attributes):
            raise CannotEdit(f"An expression sets {name} of this element; describe the change in words.")
        if not value:
            return []
        return [TextReplacement(located.file, element.name_end, element.name_end, f" {name}={_quoted(value, '')}")]
    if attribute.is_expression:
        expression = source[attribute.value_start : attribute.value_end].strip()
        is_string = len(expression) > 1 and expression[0] in "\"'`" and expression[0] == expression[-1]
        if not is_string or "${" in expression:
            raise CannotEdit(f"An expression sets {name} of this element; describe the change in words.")
    if not value:
        start = attribute.start - (1 if source[attribute.start - 1 : attribute.start].isspace() else 0)
        return [TextReplacement(located.file, start, attribute.end, "")]
    if attribute.value_start < 0 or not attribute.quote or attribute.is_expression:
        written = f"{name}={_quoted(value, '')}"
        return [TextReplacement(located.file, attribute.start, attribute.end, written)]
    written = _quoted(value, attribute.quote)[1:-1]
    return [TextReplacement(located.file, attribute.value_start, attribute.value_end, written)]


def _quoted(value: str, quote: str) -> str:
    """Return a value in quotes, as HTML and JSX read them."""
    quote = quote or '"'
    text = escape(value, quote=False).replace(quote, "&quot;" if quote == '"' else "&#x27;")
    return f"{quote}{text}{quote}"

"""Front matter: the small part of YAML that is read, and the sentence for everything else."""

import pytest

from heald.config.front_matter import FieldValue, parse_front_matter
from heald.core.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x: a text", "a text"),
        ("x:a", None),
        ('x: "a: #text"  # comment', "a: #text"),
        ("x: a#b # comment", "a#b"),
        ("x:", ""),
        ("x: [a, 'b, c', d]", ["a", "b, c", "d"]),
        ("x: []", []),
        ("x:\n  - a\n  - 'b: c'\n\n  - d # comment", ["a", "b: c", "d"]),
        ("x:\n- a\n- b", ["a", "b"]),
        ("x: {a: 1, b: 'two'}", {"a": "1", "b": "two"}),
        ("x:\n  a: 1\n  b: two", {"a": "1", "b": "two"}),
        ("x: >\n  one\n  two", "one two"),
        ("x: |\n  one\n    two", "one\n  two"),
    ],
)
def test_values(text: str, value: FieldValue | None) -> None:
    source = f"---\n# comment\n{text}\n---\n\nThe body.\n"
    if value is None:
        with pytest.raises(ConfigurationError, match=r"a.md:3: 'x:a' is not a field"):
            parse_front_matter(source, "a.md")
        return
    for newline in ("\n", "\r\n"):
        matter = parse_front_matter(source.replace("\n", newline), "a.md")
        assert matter.fields["x"].value == value
        assert matter.fields["x"].line == 3
        assert matter.body == "The body."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("---\nx: 1\n", "a.md:1: the front matter has no end; close it with a line of ---."),
        ("---\nx: 1\nx: 2\n---", "a.md:3: x is set twice, first in line 2."),
        ("---\n  x: 1\n---", "a.md:2: 'x: 1' belongs to no field."),
        ("---\nx: [a\n---", "a.md:2: '[a' has no end; close it with ] in the same line."),
        ("---\nx: {a\n---", "a.md:2: '{a' has no end; close it with } in the same line."),
        ("---\nx: a\n  b\n---", "a.md:3: 'b' follows a value; write > before the lines."),
        ("---\nx:\n  - a\n  b\n---", "a.md:4: 'b' is not an item; begin it with '- '."),
        ("---\nx:\n  a: 1\n  b\n---", "a.md:4: 'b' is not a field; write it as name: value."),
        ("---\njust text\n---", "a.md:2: 'just text' is not a field; write it as name: value."),
    ],
)
def test_errors_name_the_line(text: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        parse_front_matter(text, "a.md")
    assert str(raised.value) == sentence


def test_a_text_without_front_matter_is_the_body() -> None:
    matter = parse_front_matter("Hello.\n---\nx: 1\n", "a.md")
    assert (matter.fields, matter.body) == ({}, "Hello.\n---\nx: 1")

"""Doubts about what a model writes in place of a file."""

import pytest

from heald.tools.files.written_file import find_doubt

BEFORE = "Licence text stands here.\nsecond line of it\nalpha\nbeta\ngamma\ndelta\nepsilon\n"
WITHOUT_BEGINNING = "alpha\nbeta\ngamma\ndelta\nEPSILON\n"


@pytest.mark.parametrize(
    ("request_text", "is_doubted"),
    [("Remove the licence and shout epsilon.", False), ("Remove the second line.", True), ("Shout epsilon.", True)],
)
def test_a_beginning_is_left_out_only_where_the_request_names_its_first_line(
    request_text: str, is_doubted: bool
) -> None:
    doubt = find_doubt("a.txt", BEFORE, WITHOUT_BEGINNING, request_text, {})
    assert (doubt is not None) == is_doubted
    assert doubt is None or "leaves out the beginning of a.txt, 'Licence text stands here.'" in doubt

"""Which state of a file wrote each of its lines."""

from heald_studio.causes.blame import blame_lines


def test_a_line_belongs_to_the_state_that_wrote_it_first() -> None:
    first = "<main>\n<h1>Tea</h1>\n<p>Open</p>\n</main>"
    second = "<main>\n<h1>Tea</h1>\n<p>Closed</p>\n<p>On Monday</p>\n</main>"
    third = "<main>\n<nav></nav>\n<h1>Tea</h1>\n<p>Closed</p>\n<p>On Monday</p>\n</main>"
    states = [("build", first), ("change", second), ("edit", third)]
    assert blame_lines(states) == ["build", "edit", "build", "change", "change", "build"]


def test_a_file_that_is_written_anew_keeps_the_writers_of_lines_that_stay() -> None:
    assert blame_lines([("a", "x\ny\nz"), ("b", "q\nx\nr\nz")]) == ["b", "a", "b", "a"]
    assert blame_lines([("a", "x\nx\nx"), ("b", "x\nx")]) == ["a", "a"]
    assert blame_lines([("a", "x"), ("b", ""), ("c", "x")]) == ["c"]
    assert blame_lines([]) == []

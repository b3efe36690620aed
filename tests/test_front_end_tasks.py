"""The front-end tasks: edits that a reader would make, counted in lines."""

from pathlib import Path

from benchmarks.front_end_tasks import TASKS, count_lines, measure_tasks, read_stored

from heald_local.arrange.page import arrange
from heald_local.write.stacks import write_files
from heald_pictures.elements import Box, TextElement
from vision_pages import box, seen, text

UTILITIES = """<body>
<nav class="bg-blue-600 flex">
<a class="text-blue-600" href="#">Home</a>
<a class="text-blue-600" href="#">News</a>
</nav>
<section class="p-4">
<h1 class="text-sm ml-4">Title</h1>
<p class="text-sm p-4">Words</p>
</section>
</body>"""


def _landing() -> str:
    parts: list[TextElement | Box] = [box(0, 0, 1280, 64, "#1d4ed8"), text(80, 22, "Harbour", 20, 700, "#ffffff")]
    parts += [text(800 + 110 * at, 24, name, 15, 400, "#ffffff") for at, name in enumerate(("Home", "News", "Shop"))]
    parts += [text(80, 140, "Ships for everyone", 44, 700), text(80, 220, "And boats for all of the others, too.", 16)]
    for x in (80, 460, 840):
        parts += [box(x, 300, 340, 140, "#1d4ed8", radius=8), text(x + 24, 324, f"Plan {x}", 20, 700, "#ffffff")]
        parts.append(text(x + 24, 370, f"Words about plan {x}", 15, 400, "#ffffff"))
    return str(write_files(arrange(seen(*parts)))["index.html"])


def test_a_page_of_the_converter_needs_one_line_for_what_is_one_decision() -> None:
    lines = measure_tasks(_landing())
    assert len(lines) == len(TASKS) == 10
    single = (
        "change the brand colour",
        "rename an entry of the menu",
        "add an entry to the menu",
        "make the header dark",
    )
    assert {name: lines[name] for name in single} == dict.fromkeys(single, 1)
    assert lines["add a card"] == 4
    assert lines["add a breakpoint"] == 3


def test_each_line_with_a_utility_is_counted() -> None:
    lines = measure_tasks(UTILITIES)
    assert lines["change the brand colour"] == 3
    assert lines["make the text larger"] == 2
    assert lines["centre the hero"] == 2
    assert lines["add a card"] is None


def test_changed_added_and_removed_lines_count_once() -> None:
    assert count_lines("a\nb\nc", "a\nB\nc") == 1
    assert count_lines("a\nb", "a\nx\ny\nb") == 2
    assert count_lines("a\nb\nc", "a") == 2


def test_files_are_read_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>", "utf-8")
    assert read_stored(tmp_path, "page.html") == b"<p>"

"""Locks hold: hostile edits of a page are refused, whatever they alter and when, and harmless ones pass."""

from collections.abc import Mapping

import pytest
from benchmarks.hostile_edits import BASE, LOCKS, PAGE, SCRIPT, STYLES, harmless_edits, hostile_edits

from heald_studio.locks.lock_check import check_locks
from heald_studio.stacks.installed import find_stack

pytestmark = pytest.mark.asyncio(loop_scope="module")  # the page before a change is observed once for a loop


async def read_base(_: str) -> Mapping[str, bytes]:
    return BASE


async def broken_reason(kind: str, files: Mapping[str, bytes]) -> str:
    broken = await check_locks(find_stack("html_css"), [LOCKS[kind]], {**BASE, **files}, read_base)
    return broken[0].sentence if broken else ""


def page(before: str, after: str) -> dict[str, bytes]:
    assert before in PAGE
    return {"index.html": PAGE.replace(before, after, 1).encode()}


def rule(text: str) -> dict[str, bytes]:
    return {"styles.css": f"{STYLES}{text}\n".encode()}


def script(text: str) -> dict[str, bytes]:
    return {"app.js": f"{SCRIPT}{text}\n".encode()}


@pytest.mark.parametrize(
    ("kind", "files", "reason"),
    [
        ("file", {"logo.svg": b"<svg/>"}, "the change alters it"),
        ("text", page("$29 a month", "$2\u200b9 a month"), "its text is now"),
        ("element", page("$29 a month", "$28 a month"), "its text is now"),
        ("element", rule(".pro { color: #112030 }"), "pixels differ"),
        ("element", rule("@media (width: 913px) { .pro { opacity: .9 } }"), "pixels differ at 913 px"),
        ("element", rule("@media (prefers-color-scheme: dark) { body { filter: invert(1) } }"), "dark"),
        (
            "element",
            rule("@keyframes x { 50% { opacity: .1 } } .pro { animation: x 90s infinite }"),
            "while an animation",
        ),
        ("style", rule(".pro .buy:hover { background: red }"), "under the pointer"),
        ("style", page(">Choose Harbour master<", "><b>Choose Harbour master</b><"), "words in it are drawn"),
        ("text", script("setTimeout(() => document.getElementById('price').append('!'), 600000)"), "after a while"),
        (
            "element",
            script("onclick = (e) => { if (e.isTrusted) document.body.style.opacity = '.5' }"),
            "after a click",
        ),
        (
            "element",
            page("</head>", '<link rel="stylesheet" href="https://x.example/a.css"></head>'),
            "cannot be checked",
        ),
        (
            "element",
            page('<section class="plans"', '<p style="height: 9000px"></p><section class="plans"'),
            "empty space",
        ),
    ],
)
async def test_an_edit_that_alters_a_locked_part_is_refused(kind: str, files: dict[str, bytes], reason: str) -> None:
    assert reason in await broken_reason(kind, files)


async def test_hostile_edits_from_a_seed_are_refused() -> None:
    passed = [edit.name for edit in hostile_edits(12, 7) if not await check_hostile(edit.lock.kind, edit.files)]
    assert passed == []


async def check_hostile(kind: str, files: Mapping[str, bytes]) -> bool:
    return bool(await check_locks(find_stack("html_css"), [LOCKS[kind]], files, read_base))


async def test_edits_of_other_parts_pass() -> None:
    edits = harmless_edits()
    files = {**edits["a notice above"], "app.js": edits["a script elsewhere"]["app.js"]}
    broken = await check_locks(find_stack("html_css"), list(LOCKS.values()), files, read_base)
    assert [item.sentence for item in broken] == []


async def test_the_words_of_a_part_whose_style_is_locked_may_change() -> None:
    assert await broken_reason("style", page(">Choose Harbour master<", ">Take the helm<")) == ""

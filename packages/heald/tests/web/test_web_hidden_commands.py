"""What a person approves in the page is what runs: every character of it is there to see, in a real browser."""

from typing import Any

import aiohttp
from page_support import Visit
from playwright.async_api import Locator, expect

from hidden_texts import ATTACKS, MARKER, assert_harmless, assert_visible

TOGETHER = 5
"""Commands of one message."""
_OVERFLOWS = """() => [...document.querySelectorAll('.ask .visible, .ask .diff')]
    .filter(box => box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight + 1).length"""


async def start(visit: Visit, text: str) -> str:
    """Start a session with a tool for commands, and open it."""
    settings = {"model": "scripted/quick", "tools": ["commands", "files", "ask"], "permissions": "ask"}
    session = (await post(visit, "/sessions", settings))["id"]
    await post(visit, f"/sessions/{session}/messages", {"text": text})
    await visit.page.evaluate(f"location.hash = '#/session/{session}'")
    return session


async def post(visit: Visit, path: str, body: dict[str, Any]) -> dict[str, Any]:
    url, _, token = visit.address.partition("/#token=")
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(url, headers=headers) as client, client.post(path, json=body) as answer:
        assert answer.status in (200, 201, 202), await answer.text()
        return await answer.json()


def asked(visit: Visit, name: str) -> Locator:
    return visit.page.get_by_role("group", name=f"Allow {name}?")


async def test_every_command_is_shown_whole(visit: Visit) -> None:
    commands = list(ATTACKS.values())
    texts: list[str] = []
    session = ""
    for first in range(0, len(commands), TOGETHER):
        together = min(TOGETHER, len(commands) - first)
        request = f"hidden commands {first} to {first + together}"
        if session:
            await post(visit, f"/sessions/{session}/messages", {"text": request})
        else:
            session = await start(visit, request)
        questions = asked(visit, "run_command")
        await expect(questions.get_by_role("region", name="Argument command")).to_have_count(together)
        texts += await questions.all_inner_texts()
        assert await visit.page.evaluate(_OVERFLOWS) == 0
        await post(visit, f"/sessions/{session}/cancel", {})
        await expect(questions).to_have_count(0)
    for text, command in zip(texts, commands, strict=True):
        assert_visible(text, command)
    assert sum("hidden character" in text for text in texts) > 60
    assert sum("look-alike characters" in text for text in texts) >= 4


async def test_a_long_command_is_cut_with_a_count_and_shown_whole_on_demand(visit: Visit) -> None:
    await start(visit, "long command")
    question = asked(visit, "run_command")
    await expect(question).to_contain_text("line breaks left out⟧")
    await expect(question.get_by_role("region", name="Argument cwd")).to_contain_text("sub")
    assert MARKER not in await question.inner_text()
    assert await visit.axe() == []
    await question.get_by_role("button", name="Show all").click()
    await expect(question).to_contain_text(MARKER)
    more = "echo more\n" * 200
    assert_visible(await question.inner_text(), f"echo start\n{more}{MARKER}\n{more}echo end")
    await question.get_by_role("button", name="Show less").click()
    await expect(question).not_to_contain_text(MARKER)
    await question.get_by_role("button", name="Deny").click()
    await visit.done()


async def test_a_diff_shows_lines_of_dashes_and_hidden_characters(visit: Visit) -> None:
    await start(visit, "hidden change")
    await asked(visit, "write_file").get_by_role("button", name="Allow once").click()
    question = asked(visit, "edit_file")
    changes = question.get_by_role("region", name="What it changes")
    await expect(changes.locator(".diff-line.del")).to_have_text("--- SELECT 1")
    await expect(changes.locator(".diff-line.add")).to_have_text(f"+++ {MARKER}⟦\\u202e⟧⟦\\u00a0⟧")
    await expect(question).to_contain_text("The diff contains 2 hidden characters")
    assert await visit.axe() == []
    await question.get_by_text("All arguments").click()
    await expect(question.get_by_role("region", name="Argument new_text")).to_contain_text(f"++ {MARKER}")
    await question.get_by_role("button", name="Deny").click()
    await visit.done()


async def test_a_question_is_escaped(visit: Visit) -> None:
    await start(visit, "hidden question")
    question = visit.page.get_by_role("form", name="Question")
    await expect(question).to_contain_text("contains 4 hidden characters")
    assert_harmless(await question.inner_text())
    await question.get_by_role("button", name="Y⟦\\u200b⟧es").click()
    await visit.done()

"""`heald demo`: one story in two parts, with real files and a real approval."""

import asyncio
import re
from pathlib import Path

from cli_bench import run_process


async def test_the_story_ends_with_a_changed_page() -> None:
    ran = await run_process("demo", "--pause", "0")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.index("1. A picture becomes a page") < ran.out.index("2. An agent asks before it changes the page")
    assert "Approved: there is no terminal to ask." in ran.out
    page = re.search(r"The page: (\S+)", ran.out)
    assert page is not None
    text = await asyncio.to_thread(Path(page[1]).read_text, "utf-8")
    assert "Fresh bread until six in the evening" in text
    assert "five in the morning" not in re.sub(r"<title>.*?</title>", "", text)

"""The benchmark of programs that call tools: both ways give the same answer, and the program costs less."""

import shutil

import pytest
from benchmarks.code_mode import SCENARIOS, compare

from heald.tools.shell.sandbox import PATH, Sandbox


@pytest.mark.skipif(
    Sandbox().available() is not None or shutil.which("python3", path=PATH) is None,
    reason="programs cannot be run here",
)
async def test_a_program_takes_fewer_tokens_and_no_more_turns() -> None:
    rows = await compare()
    assert len(rows) == len(SCENARIOS) == 8
    for scenario, plain, program in rows:
        assert program.tokens < plain.tokens, scenario.name
        assert program.turns == 2 <= plain.turns, scenario.name

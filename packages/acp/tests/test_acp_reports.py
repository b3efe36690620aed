"""What agents report that no number or limit of ours may trip over."""

from typing import cast

import pytest

from heald.tools.shell.process import Process
from heald_acp.acp_terminals import _Terminal  # pyright: ignore[reportPrivateUsage]
from heald_acp.updates import read_cost


@pytest.mark.parametrize(
    ("amount", "cost"),
    [(0.25, 0.25), (2, 2.0), (0, 0.0), (10**400, None), (float("inf"), None), (-1, None), (True, None), ("1", None)],
)
def test_a_cost_is_an_amount_of_money(amount: object, cost: float | None) -> None:
    assert read_cost({"cost": {"amount": amount, "currency": "USD"}}) == cost
    assert read_cost({"cost": {"amount": amount, "currency": "EUR"}}) is None


@pytest.mark.parametrize(
    ("limit", "text", "is_cut"),
    [(None, "aé¢", False), (9, "aé¢", False), (3, "¢", True), (2, "¢", True), (0, "", True), (-4, "", True)],
)
def test_output_ends_with_the_bytes_that_the_agent_accepts(limit: int | None, text: str, is_cut: bool) -> None:
    assert _Terminal(cast(Process, None), ["aé", "¢"], limit).text() == (text, is_cut)

"""What agents report that no number or limit of ours may trip over."""

from typing import cast

import pytest

from heald.core.errors import ConfigurationError
from heald.core.json import JsonObject
from heald.tools.permissions import PermissionRule
from heald.tools.rule_names import find_idle_rules
from heald.tools.shell.process import Process
from heald_acp.acp_terminals import _Terminal  # pyright: ignore[reportPrivateUsage]
from heald_acp.updates import ReportedCall, read_cost


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


def test_rules_may_name_the_tools_of_agents() -> None:
    names = ["allow acp_edit(src/*)", "deny acp_execute", "ask acp_*", "deny Bash"]
    assert find_idle_rules([PermissionRule.parse(rule) for rule in names], ["read_file"]) == []
    with pytest.raises(ConfigurationError, match="did you mean 'acp_execute'"):
        find_idle_rules([PermissionRule.parse("deny acp_exekute")], ["read_file"])


@pytest.mark.parametrize(("raw_input", "name"), [({"todos": []}, "acp_think"), ({"todos": [], "x": 1}, "acp_other")])
def test_a_list_of_tasks_is_harmless(raw_input: JsonObject, name: str) -> None:
    assert ReportedCall("c1", raw_input=raw_input).name == name


def test_the_files_of_a_report_are_among_its_arguments() -> None:
    patch: JsonObject = {"patch": "…"}
    assert ReportedCall("c1", kind="edit", raw_input=patch, locations=["a.txt"]).arguments()["paths"] == ["a.txt"]
    command: JsonObject = {"command": "ls"}
    assert ReportedCall("c1", kind="execute", raw_input=command, locations=["a.txt"]).arguments() == command


def test_the_output_of_the_agents_own_terminal_is_the_result() -> None:
    call = ReportedCall("c1", kind="execute")
    call.update({"_meta": {"terminal_output_delta": {"data": "one\n", "terminal_id": "c1"}}})
    call.update({"status": "failed", "rawOutput": {"exit_code": 1}, "_meta": {"terminal_output": {"data": "two\n"}}})
    assert (call.outcome().content, call.outcome().is_error) == ("one\ntwo\n", True)
    call.update({"content": [{"type": "content", "content": {"type": "text", "text": "three"}}], "_meta": None})
    assert call.outcome().content == "three"

"""Tools of the SDK's own: asked for here, run there, told like all others. Subagents stay out of the conversation."""

from typing import Any

import pytest
from claude_agent_recordings import answer, call, event, init, message, text, whole
from claude_agent_sdk import ClaudeAgentOptions
from claude_agent_support import Played, Use

import heald
from heald.core.envelope import Event
from heald.core.errors import ConfigurationError

WEATHER = "mcp__heald__weather"


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C"


def bash(**use: Any) -> list[Any]:
    """A command that the SDK runs, and the answer."""
    calls = message("msg_1", call("Bash", "toolu_1", command="ls"))
    return [init(), *calls, Use("toolu_1", "Bash", {"command": "ls"}, "a.txt", **use), *answer("Done.", "msg_2")[1:]]


async def test_the_sdks_tools_are_off_unless_they_are_named() -> None:
    async with Played([answer("Hello.")]) as played:
        await played.agent.run("Hi.")
    async with Played([answer("Hello.")], sdk_tools=["Read", "Bash"]) as other:
        await other.agent.run("Hi.")
    assert played.processes[0].options.tools == []
    assert other.processes[0].options.tools == ["Read", "Bash"]


async def test_a_tool_of_the_sdk_runs_there_and_is_reported_here() -> None:
    async with Played([bash()], sdk_tools=["Bash"]) as played:
        done = await played.agent.run("List.")
    assert done.text == "Done."
    assert played.types("tool_call", "tool_executing", "tool_completed", "tool_result") == [
        "tool_call",
        "tool_executing",
        "tool_completed",
        "tool_result",
    ]
    told = played.payloads_of("tool_result")[0]
    assert (told.id, told.name, told.status, told.content) == ("toolu_1", "Bash", "ok", "a.txt")


async def test_its_failure_is_a_failure() -> None:
    async with Played([bash(is_error=True)], sdk_tools=["Bash"]) as played:
        await played.agent.run("List.")
    assert (played.payloads_of("tool_result")[0].status, played.types("tool_failed")) == ("error", ["tool_failed"])


@pytest.mark.parametrize("ask", [True, False])
async def test_a_rule_forbids_it_and_it_never_runs(ask: bool) -> None:
    rules = heald.Permissions("auto", ["deny Bash(ls*)"])
    async with Played([bash(ask=ask)], sdk_tools=["Bash"], permissions=rules) as played:
        await played.agent.run("List.")
    assert played.payloads_of("tool_result")[0].status == "denied"
    assert played.types("tool_executing") == []
    decision = played.processes[0].decisions[0]
    assert "deny" in (decision.get("permissionDecision"), decision.get("behavior"))
    assert "The rule 'deny Bash(ls*)' forbids it" in str(decision)


async def test_a_part_of_a_command_line_is_enough_for_a_rule() -> None:
    line = "cd /tmp && /bin/rm -rf x"
    calls = message("msg_1", call("Bash", "toolu_1", command=line))
    recording = [init(), *calls, Use("toolu_1", "Bash", {"command": line}, "gone"), *answer("Done.", "msg_2")[1:]]
    rules = heald.Permissions("auto", ["deny Bash(rm *)"])
    async with Played([recording], sdk_tools=["Bash"], permissions=rules) as played:
        await played.agent.run("Clean up.")
    assert played.payloads_of("tool_result")[0].status == "denied"


@pytest.mark.parametrize("allowed", [True, False])
async def test_somebody_is_asked_and_the_sdk_waits_for_the_answer(allowed: bool) -> None:
    async with Played([bash()], sdk_tools=["Bash"], permissions="ask") as played:

        async def decide(event: Event) -> None:
            if event.type == "approval_requested":
                assert played.processes[0].decisions == []
                asked: Any = event.data
                (played.agent.approve if allowed else played.agent.deny)(asked.approval)

        played.agent.subscribe(decide)
        await played.agent.run("List.")
    assert played.payloads_of("tool_result")[0].status == ("ok" if allowed else "denied")
    assert played.payloads_of("approval_resolved")[0].decision == ("allowed" if allowed else "denied")


async def test_other_arguments_of_the_approver_are_those_it_runs_with() -> None:
    async with Played([bash()], sdk_tools=["Bash"], permissions="ask") as played:

        async def decide(event: Event) -> None:
            if event.type == "approval_requested":
                asked: Any = event.data
                played.agent.approve(asked.approval, arguments={"command": "ls -a"})

        played.agent.subscribe(decide)
        await played.agent.run("List.")
    assert played.processes[0].decisions[0]["updatedInput"] == {"command": "ls -a"}


async def test_tools_of_both_sides_in_one_message_one_after_the_other() -> None:
    """The SDK begins a call only when the one before it has its result, wherever that comes from."""
    recording = [
        init(),
        *message(
            "msg_1",
            call(WEATHER, "toolu_1", city="Oslo"),
            call("Bash", "toolu_2", command="ls"),
            call(WEATHER, "toolu_3", city="Rome"),
            call("Read", "toolu_4", file_path="a"),
        ),
        Use("toolu_1", WEATHER, {"city": "Oslo"}),
        Use("toolu_2", "Bash", {"command": "ls"}, [text("a.txt")]),
        Use("toolu_3", WEATHER, {"city": "Rome"}),
        Use("toolu_4", "Read", {"file_path": "a"}, "text of a"),
        *answer("Done.", "msg_2")[1:],
    ]
    rules = heald.Permissions("auto", ["deny Read"])
    tools: Any = {"sdk_tools": ["Bash", "Read"], "tools": [weather], "permissions": rules}
    async with Played([recording], **tools) as played:
        await played.agent.run("Everything.")
    results = {told.id: (told.status, told.text[:5]) for told in played.payloads_of("tool_result")}
    assert results == {
        "toolu_1": ("ok", "Oslo:"),
        "toolu_2": ("ok", "a.txt"),
        "toolu_3": ("ok", "Rome:"),
        "toolu_4": ("denied", "This "),
    }


async def test_a_subagent_speaks_through_its_call_and_nowhere_else() -> None:
    work = [
        event(parent="toolu_1", type="message_start", message={"id": "msg_s"}),
        whole("msg_s", text("I look."), parent="toolu_1"),
        whole("msg_s", call("Read", "toolu_9", file_path="a"), parent="toolu_1"),
        Use("toolu_9", "Read", {"file_path": "a"}, "text", agent="agent-1", parent="toolu_1"),
    ]
    recording = [
        init(),
        *message("msg_1", call("Agent", "toolu_1", prompt="Look.")),
        Use("toolu_1", "Agent", {"prompt": "Look."}, "It is fine.", meanwhile=work),
        *answer("All is fine.", "msg_2")[1:],
    ]
    async with Played([recording], sdk_tools=["Agent", "Read"]) as played:
        done = await played.agent.run("Look.")
    assert (done.text, done.turns) == ("All is fine.", 2)
    assert [m.message.text for m in played.payloads_of("assistant_message")] == ["", "All is fine."]
    assert [told.name for told in played.payloads_of("tool_call")] == ["Agent"]
    assert [(told.id, told.content) for told in played.payloads_of("tool_result")] == [("toolu_1", "It is fine.")]
    assert [delta.text for delta in played.payloads_of("tool_output_delta")] == [
        "I look.\n",
        '[Read {"file_path":"a"}]\n',
    ]


async def test_a_subagent_is_held_to_the_rules_and_has_no_tools_of_heald() -> None:
    agent: Any = {"agent": "agent-1", "parent": "toolu_1"}
    recording = [
        init(),
        *message("msg_1", call("Agent", "toolu_1", prompt="Look.")),
        Use("toolu_7", "Bash", {"command": "ls"}, "a.txt", **agent),
        Use("toolu_8", "Read", {"file_path": "a"}, "text", **agent),
        Use("toolu_9", WEATHER, {"city": "Oslo"}, **agent),
        Use("toolu_1", "Agent", {"prompt": "Look."}, "It is fine."),
        *answer("All is fine.", "msg_2")[1:],
    ]
    rules = heald.Permissions("auto", ["ask Bash"])
    tools: Any = {"sdk_tools": ["Agent", "Bash", "Read"], "tools": [weather], "permissions": rules}
    async with Played([recording], **tools) as played:
        await played.agent.run("Look.")
    decisions = [decision["permissionDecision"] for decision in played.processes[0].decisions]
    assert decisions == ["deny", "allow", "deny", "allow"]
    assert played.types("approval_requested") == []


async def test_a_name_that_both_sides_have_is_refused() -> None:
    async with Played([], sdk_tools=["weather"], tools=[weather]) as played:
        with pytest.raises(ConfigurationError, match="'weather' is a tool of Heald's and of the SDK's"):
            await played.agent.run("Hi.")


async def test_settings_become_options() -> None:
    requested = ClaudeAgentOptions(
        allowed_tools=["Bash"], permission_mode="bypassPermissions", env={"A": "1"}, max_turns=7, cwd="/srv"
    )
    more: Any = {"instructions": "Be brief.", "default_instructions": False, "max_output_tokens": 900}
    async with Played([answer("Hi.")], options=requested, reasoning=heald.Reason(effort="high"), **more) as played:
        await played.agent.run("Hi.")
    options = played.processes[0].options
    assert options.system_prompt == "Be brief."
    assert (options.model, options.effort, options.max_turns, options.cwd) == ("claude-sonnet-4-6", "high", 7, "/srv")
    assert (options.allowed_tools, options.permission_mode) == ([], "default")
    assert (options.setting_sources, options.strict_mcp_config, options.verbatim_prompts) == ([], True, True)
    assert options.env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "900"
    assert options.env["A"] == "1"


async def test_the_preset_where_it_is_asked_for() -> None:
    options = ClaudeAgentOptions(system_prompt={"type": "preset", "preset": "claude_code"})
    more: Any = {"instructions": "Be brief.", "default_instructions": False}
    async with Played([answer("Hi.")], options=options, **more) as played:
        await played.agent.run("Hi.")
    assert played.processes[0].options.system_prompt == {
        "type": "preset",
        "preset": "claude_code",
        "append": "Be brief.",
    }

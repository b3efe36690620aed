"""`/help` of `heald chat`: every command is under a task, and a word explains a command or a task."""

from pathlib import Path

from cli_tmux import NEEDS_TMUX, Tmux

from heald.testing.server import ScriptedServer
from heald.testing.streams import wire_reply
from heald_cli.chat.commands import CHAT_COMMANDS
from heald_cli.chat.help_command import HELP_TASKS


def test_every_command_is_under_one_task() -> None:
    names = [name for task in HELP_TASKS for name in task.commands]
    assert sorted(names) == sorted(CHAT_COMMANDS), "a new command belongs under a task"


@NEEDS_TMUX
async def test_help_by_task_in_a_terminal(tmp_path: Path) -> None:
    async with (
        ScriptedServer(lambda _: wire_reply("chat", text="Hello.")) as server,
        Tmux(
            tmp_path, "chat", "--model", "m", "--base-url", f"{server.url}/v1", "--data", str(tmp_path / "data")
        ) as terminal,
    ):
        await terminal.shows("heald with m")
        await terminal.enter("/help")
        await terminal.shows(
            "see, review, undo and commit changes", "/diff /review /undo /redo /commit /pr", "Esc interrupts."
        )
        await terminal.enter("/clear")
        await terminal.enter("/help changes")
        await terminal.shows("See, review, undo and commit changes:", "undo the last exchange and its changes of files")
        await terminal.enter("/help /cost")
        await terminal.shows("/cost  show tokens and cost so far")
        await terminal.enter("/help chnges")
        await terminal.shows("There is no help about 'chnges'; did you mean /help changes?")

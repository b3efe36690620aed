"""External agents from their registry, unchanged, and the provider that is scripted behind all of them.

Each agent is asked to repair `calc.py`: its model reads the file, edits it, writes a new file, and says so. An
agent that cannot be installed skips the test with the reason.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest

from heald.core.json import as_object, encode_text
from heald.core.messages import ToolCall
from heald.testing.server import ReceivedRequest, Reply
from heald.testing.streams import wire_reply
from registry_clients import npm_folder

TASK = "Repair calc.py"
WRONG, RIGHT = "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"
ANSWER = "It adds now."
NOTES = "notes.md"
"""The file that each agent creates."""
_OLD, _NEW = "a - b", "a + b"


@dataclass(frozen=True)
class ForeignAgent:
    """An agent, the calls with which its model repairs the file, and what it needs to find the scripted provider."""

    name: str
    package: str
    program: str
    """Pattern of the program's path in the folder of the packages."""
    arguments: tuple[str, ...]
    wire: str
    calls: tuple[tuple[str, dict[str, Any]], ...]

    def command(self) -> list[str]:
        """Install it, unless it is, and return its command."""
        folder = npm_folder(self.package)
        program = next(iter(sorted(folder.glob(f"node_modules/{self.program}"))), None)
        if program is None:
            pytest.skip(f"{self.package} has no program for this machine")
        return [str(program), *self.arguments]

    def environment(self, url: str) -> dict[str, str]:
        """The variables with which the agent asks the scripted provider."""
        match self.name:
            case "claude":
                quiet = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
                return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "scripted", **quiet}
            case "gemini":
                return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "scripted"}
            case "qwen":
                return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": "m"}
            case "codex":
                settings = {"CODEX_CONFIG": _codex_settings(url), "MODEL_PROVIDER": "mine"}
                return {**settings, "OPENAI_API_KEY": "scripted", "NO_BROWSER": "1"}
            case _:
                return {"OPENCODE_CONFIG_CONTENT": _opencode_settings(url)}


def _opencode_settings(url: str) -> str:
    model = {"name": "m", "limit": {"context": 100_000, "output": 8000}, "cost": {"input": 3, "output": 15}}
    options = {"baseURL": f"{url}/v1", "apiKey": "scripted"}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": model}}
    return encode_text({"model": "mine/m", "provider": {"mine": provider}, "autoupdate": False, "share": "disabled"})


def _codex_settings(url: str) -> str:
    provider = {"name": "mine", "base_url": f"{url}/v1", "env_key": "OPENAI_API_KEY", "wire_api": "responses"}
    return encode_text({"model": "m", "model_provider": "mine", "model_providers": {"mine": provider}})


def _patch(*lines: str) -> tuple[str, dict[str, Any]]:
    patch = "\n".join(("*** Begin Patch", *lines, "*** End Patch"))
    return "exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF\n"}


def _edit(name: str, path: str, old: str, new: str, **more: str) -> tuple[str, dict[str, Any]]:
    return name, {path: "calc.py", old: _OLD, new: _NEW, **more}


def _create(name: str, path: str) -> tuple[str, dict[str, Any]]:
    return name, {path: NOTES, "content": "It adds.\n"}


AGENTS = {
    agent.name: agent
    for agent in (
        ForeignAgent(
            "claude",
            "@agentclientprotocol/claude-agent-acp@0.99.1",
            ".bin/claude-agent-acp",
            (),
            "messages",
            (
                ("Read", {"file_path": "calc.py"}),
                _edit("Edit", "file_path", "old_string", "new_string"),
                _create("Write", "file_path"),
            ),
        ),
        ForeignAgent(
            "opencode",
            "opencode-ai@1.18.18",
            "opencode-*/bin/opencode",
            ("acp",),
            "chat",
            (
                ("read", {"filePath": "calc.py"}),
                _edit("edit", "filePath", "oldString", "newString"),
                _create("write", "filePath"),
            ),
        ),
        ForeignAgent(
            "gemini",
            "@google/gemini-cli@0.61.0",
            ".bin/gemini",
            ("--acp",),
            "gemini",
            (
                ("read_file", {"file_path": "calc.py"}),
                _edit("replace", "file_path", "old_string", "new_string", instruction="Add."),
                _create("write_file", "file_path"),
            ),
        ),
        ForeignAgent(
            "qwen",
            "@qwen-code/qwen-code@0.24.4",
            ".bin/qwen",
            ("--acp",),
            "chat",
            (
                ("read_file", {"file_path": "calc.py"}),
                _edit("edit", "file_path", "old_string", "new_string"),
                _create("write_file", "file_path"),
            ),
        ),
        ForeignAgent(
            "codex",
            "@agentclientprotocol/codex-acp@2.6.0",
            ".bin/codex-acp",
            (),
            "responses",
            (  # it does not always report a command that only reads
                _patch("*** Update File: calc.py", "@@", f"-    return {_OLD}", f"+    return {_NEW}"),
                _patch(f"*** Add File: {NOTES}", "+It adds."),
            ),
        ),
    )
}


class ScriptedProvider:
    """The models of all agents: `ScriptedServer(ScriptedProvider())`. `lazy` agents change nothing."""

    def __init__(self, *, lazy: Sequence[str] = ()) -> None:
        self._lazy = lazy
        self._numbers = count(1)

    def __call__(self, request: ReceivedRequest) -> Reply:
        body = as_object(request.body) if request.method == "POST" else {}
        if not body:
            return Reply.json({"data": [], "models": []})
        text = request.content.decode("utf-8", "replace")
        agent = self._agent_of(request.path, json.dumps(body.get("tools") or []))
        if agent is None or TASK not in text:
            return self._side_answer(request.path, body)
        done = text.count("functionResponse") if agent.wire == "gemini" else len(set(_answered(text)))
        if done >= len(agent.calls) or agent.name in self._lazy:
            return self._reply(agent.wire, text=ANSWER, usage=(2000, 20))
        name, arguments = agent.calls[done]
        if agent.name == "qwen":  # it takes absolute paths only
            arguments = {
                key: _absolute(text, value) if key == "file_path" else value for key, value in arguments.items()
            }
        call = ToolCall(id=f"scripted_{done}", name=name, input=arguments)
        return self._reply(agent.wire, text="Let me see. ", calls=[call], usage=(1000, 50))

    def _agent_of(self, path: str, tools: str) -> ForeignAgent | None:
        wire = _wire_of(path)
        for agent in AGENTS.values():
            if agent.wire == wire and all(f'"{name}"' in tools for name, _ in agent.calls):
                return agent
        return None

    def _side_answer(self, path: str, body: dict[str, Any]) -> Reply:
        """Answer what is not the task: titles, counts of tokens, choices of a model."""
        if "ount" in path.rpartition("/")[2] and "oken" in path:
            return Reply.json({"input_tokens": 5, "totalTokens": 5})
        if path.partition("?")[0].endswith(":generateContent"):
            part = {"content": {"role": "model", "parts": [{"text": "{}"}]}, "finishReason": "STOP"}
            return Reply.json({"candidates": [part], "usageMetadata": {}})
        wire = _wire_of(path)
        if wire == "chat" and not body.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "{}"}, "finish_reason": "stop"}
            return Reply.json({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]})
        return self._reply(wire, text="Repair")

    def _reply(self, wire: str, **answer: Any) -> Reply:
        reply = wire_reply(wire, **answer)
        number = b"msg_%d" % next(self._numbers)  # Claude Code needs each message under an id of its own
        return replace(
            reply,
            body=[part.replace(b"msg_scripted", number) if isinstance(part, bytes) else part for part in reply.body],
        )


def _wire_of(path: str) -> str:
    names = {"enerateContent": "gemini", "/messages": "messages", "/responses": "responses"}
    return next((wire for mark, wire in names.items() if mark in path), "chat")


def _answered(text: str) -> list[str]:
    return [f"scripted_{number}" for number in range(9) if f"scripted_{number}" in text]


def _absolute(text: str, name: str) -> str:
    """The path of a file in the folder that the agent names in its request."""
    for mark in ("working directory: ", "directory: ", "directory:\\n- "):
        start = text.find(mark)
        if start >= 0:
            rest = text[start + len(mark) :]
            folder = rest[: min(at for sign in ("\\n", '"', " ", "<") if (at := rest.find(sign)) >= 0)].rstrip(".,")
            if folder.startswith("/"):
                return f"{folder}/{name}"
    return name

"""An agent that speaks ACP and plays a script: `python scripted_agent.py SCRIPT RECORD`.

SCRIPT is a file with a JSON list: the steps of the first prompt, of the second one, and so on. A step is a list of its
name and its arguments; a name that is not one of the functions below is an update. `$CWD` in it is the folder of the
agent. RECORD gets a JSON line for each request and notification, and for each answer of the client.
"""

import json
import os
import subprocess
import sys
import time
from itertools import count
from typing import Any

_numbers = count(1)
_waiting: dict[int, Any] = {}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def record(entry: Any) -> None:
    with open(sys.argv[2], "a") as file:
        file.write(json.dumps(entry) + "\n")


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        record({"method": "end of input"})
        sys.exit(0)
    message = json.loads(line)
    record(message)
    if message.get("method") == "session/cancel":
        raise Cancelled
    return message


class Cancelled(Exception):
    pass


def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Ask the client, and wait for its answer."""
    number = next(_numbers)
    send({"id": number, "method": method, "params": {"sessionId": "s1", **params}})
    return answer_to(number)


def answer_to(number: int) -> dict[str, Any]:
    while number not in _waiting:
        message = read()
        _waiting[message["id"]] = message
    return _waiting.pop(number)


def update(name: str, /, **fields: Any) -> None:
    send({"method": "session/update", "params": {"sessionId": "s1", "update": {"sessionUpdate": name, **fields}}})


def ask(call: str, **report: Any) -> None:
    """Ask for a call, and run it if it is allowed: `writes` names a file that the agent itself writes."""
    writes = report.pop("writes", None)
    options = [
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]
    answer = request("session/request_permission", {"toolCall": {"toolCallId": call, **report}, "options": options})
    allowed = answer["result"]["outcome"].get("optionId") == "yes"
    if allowed and writes is not None:
        with open(writes[0], "w") as file:
            file.write(writes[1])
    text = {"type": "content", "content": {"type": "text", "text": "done" if allowed else "refused"}}
    update("tool_call_update", toolCallId=call, status="completed" if allowed else "failed", content=[text])


def ask_together(*calls: str) -> None:
    """Ask for several calls at once, and finish each when all are answered."""
    options = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]
    numbers = [next(_numbers) for _ in calls]
    for number, call in zip(numbers, calls, strict=True):
        report = {"toolCallId": call, "kind": "execute", "title": call, "rawInput": {"command": call}}
        params = {"sessionId": "s1", "toolCall": report, "options": options}
        send({"id": number, "method": "session/request_permission", "params": params})
    for number in numbers:
        answer_to(number)
    for call in calls:
        update("tool_call_update", toolCallId=call, status="completed")


def ask_inside(outer: str, inner: str) -> None:
    """Ask for a call, and for another one while the first is running."""
    update("tool_call", toolCallId=outer, kind="think", status="in_progress", rawInput={"task": outer})
    ask(inner, kind="execute", title=inner, rawInput={"command": inner})
    update("tool_call_update", toolCallId=outer, status="completed")


def run_command(command: str) -> None:
    """Run a command in a terminal of the client, and report its output as text."""
    made = request("terminal/create", {"command": command})
    if "error" in made:
        update("agent_message_chunk", content={"type": "text", "text": made["error"]["message"]})
        return
    terminal = {"terminalId": made["result"]["terminalId"]}
    request("terminal/wait_for_exit", terminal)
    output = request("terminal/output", terminal)["result"]["output"]
    request("terminal/release", terminal)
    update("agent_message_chunk", content={"type": "text", "text": output})


def play(step: list[Any]) -> dict[str, Any] | None:
    """Play a step. Returns the answer to the prompt, if it is one."""
    name, *arguments = step
    match name:
        case "say":
            update("agent_message_chunk", content={"type": "text", "text": arguments[0]})
        case "think":
            update("agent_thought_chunk", content={"type": "text", "text": arguments[0]})
        case "ask":
            ask(arguments[0], **arguments[1])
        case "ask_together":
            ask_together(*arguments)
        case "ask_inside":
            ask_inside(arguments[0], arguments[1])
        case "run_command":
            run_command(arguments[0])
        case "request":
            request(arguments[0], arguments[1])
        case "environment":
            update("agent_message_chunk", content={"type": "text", "text": json.dumps(dict(os.environ))})
        case "touch":
            open(arguments[0], "w").close()
        case "shell":  # what a tool of the agent does, in its folder
            subprocess.run(arguments[0], shell=True, check=True)
        case "await":
            while not os.path.exists(arguments[0]):
                time.sleep(0.02)
        case "wait":
            while True:
                read()
        case "ignore":  # nothing that the client sends ends it
            while True:
                time.sleep(1)
        case "exit":
            sys.stderr.write(f"{arguments[1]}\n")
            sys.exit(arguments[0])
        case "raw":
            sys.stdout.write(arguments[0] + "\n")
        case "answer":
            return {"result": arguments[0]}
        case "error":
            return {"error": arguments[0]}
        case _:
            update(name, **arguments[0])
    return None


def main() -> None:
    with open(sys.argv[1]) as file:
        prompts = iter(json.loads(file.read().replace("$CWD", os.getcwd())))
    while True:
        message = read()
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            result = {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": {"image": True}}}
            send({"id": number, "result": result})
        elif method == "session/new":
            models = {"currentModelId": "small", "availableModels": [{"modelId": "small"}, {"modelId": "large"}]}
            send({"id": number, "result": {"sessionId": "s1", "models": models}})
        elif method == "session/prompt":
            outcome: dict[str, Any] = {"result": {"stopReason": "end_turn"}}
            try:
                for step in next(prompts):
                    outcome = play(step) or outcome
            except Cancelled:
                outcome = {"result": {"stopReason": "cancelled"}}
            send({"id": number, **outcome})
        elif number is not None:
            send({"id": number, "result": {}})


if __name__ == "__main__":
    main()

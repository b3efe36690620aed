"""A call that waits for an approval. Here a function decides; in your program it may be a dialog."""

import asyncio
import tempfile

import heald


async def decide(request: heald.events.ApprovalRequested) -> heald.Approval:
    print("asked:", request.summary.splitlines()[0])
    if "secret" in request.summary:
        return heald.Approval(False, "Not that one.")
    return heald.Approval(True)


async def main() -> None:
    script = heald.testing.ScriptedModel
    calls = [
        script.call("create_file", path="notes.txt", content="Hello.\n"),
        script.call("create_file", path="secret.txt", content="Oh no.\n"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        agent = heald.Agent(
            script([calls, "One is written, one was refused."]),
            tools=["files"],
            workspace=folder,
            permissions="ask",
            on_approval=decide,
        )
        async with agent:
            result = await agent.run("Write two files.")
            print(result.text)
            print("there:", [entry.path for entry in agent.workspace.list()])


asyncio.run(main())

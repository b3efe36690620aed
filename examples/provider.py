"""An endpoint of your own: name the wire it speaks and its address. Here it is a scripted server on a real socket."""

import asyncio

import heald


async def main() -> None:
    reply = heald.testing.wire_reply("chat", text=["Hello ", "from a server ", "of your own."])
    async with heald.testing.ScriptedServer([reply]) as server:
        model = heald.Model("my-model", wire="chat", base_url=f"{server.url}/v1")
        async with heald.Agent(model) as agent:
            print((await agent.run("Hello?")).text)
        print("asked:", server.requests[0].method, server.requests[0].path)


asyncio.run(main())

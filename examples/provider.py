"""An endpoint of your own: name the wire it speaks and its address. Here it is a scripted server on a real socket."""

import asyncio

import weft


async def main() -> None:
    reply = weft.testing.wire_reply("chat", text=["Hello ", "from a server ", "of your own."])
    async with weft.testing.ScriptedServer([reply]) as server:
        model = weft.Model("my-model", wire="chat", base_url=f"{server.url}/v1")
        async with weft.Agent(model) as agent:
            print((await agent.run("Hello?")).text)
        print("asked:", server.requests[0].method, server.requests[0].path)


asyncio.run(main())

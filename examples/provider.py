"""An endpoint of your own: name the wire it speaks and its address. Here it is a scripted server on a real socket."""

import asyncio

import weft
from weft.testing.server import ScriptedServer
from weft.testing.streams import wire_reply


async def main() -> None:
    async with ScriptedServer([wire_reply("chat", text=["Hello ", "from a server ", "of your own."])]) as server:
        model = weft.Model("my-model", wire="chat", base_url=f"{server.url}/v1")
        async with weft.Agent(model) as agent:
            print((await agent.run("Hello?")).text)
        print("asked:", server.requests[0].method, server.requests[0].path)


asyncio.run(main())

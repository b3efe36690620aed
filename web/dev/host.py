"""The real server with scripted models, for looking at the page and for its tests.

    python web/dev/host.py --port 8765 --data /tmp/heald-page

It prints the address as one line of JSON, as `heald serve --json` does.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from talkers import commands, helper, paint, talkers

from heald.core.json import encode_text
from heald.sessions.sessions import Sessions
from heald.sessions.settings import SessionSettings
from heald.sessions.sqlite import SqliteStore
from heald_server.access.tokens import AccessTokens, new_token
from heald_server.app import create_app
from heald_server.context import ServerContext
from heald_server.http.uvicorn_server import bind, serve_app
from heald_server.models import KnownModels
from heald_server.settings import ServerSettings


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--data", default="")
    parser.add_argument("--workspace", default="")
    parser.add_argument(
        "--page", default=os.environ.get("HEALD_PAGE", ""), help="a folder with another build of the page"
    )
    parser.add_argument("--piece", type=int, default=12, help="characters in a delta of the quick models")
    options = parser.parse_args()
    options.data = Path(options.data or tempfile.mkdtemp(prefix="heald-page-"))
    options.data.mkdir(parents=True, exist_ok=True)
    return options


async def main(options: argparse.Namespace) -> None:
    settings = ServerSettings(port=options.port)
    bound = bind(settings)
    settings = msgspec.structs.replace(settings, port=bound.getsockname()[1])
    token = os.environ.get("HEALD_TOKEN") or new_token()
    context = ServerContext(
        Sessions(SqliteStore(options.data / "sessions.db")),
        KnownModels("scripted/quick", talkers(options.piece)),
        settings=settings,
        tokens=AccessTokens({token: ""}),
        defaults=SessionSettings(model="scripted/quick", tools=["files", "todo", "ask"], permissions="ask"),
        workspaces={"demo": options.workspace} if options.workspace else {},
        tools={"paint": paint, "helper": helper, "commands": commands},
        protocol_options={"native": {"page": options.page}} if options.page else None,
    )
    ready = encode_text({"ready": True, "url": settings.address, "token": token, "pid": os.getpid()})
    await serve_app(create_app(context), context, bound, lambda: print(ready, flush=True))


if __name__ == "__main__":
    asyncio.run(main(read_options()))

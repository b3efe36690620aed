"""The real server with scripted models, for looking at the page and for its tests.

    python web/dev/host.py --port 8765 --data /tmp/weft-page

It prints the address as one line of JSON, as `weft serve --json` does.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from functools import partial
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from talkers import helper, paint, talkers

from weft.core.json import encode_text
from weft.server import server_routes
from weft.server.access_tokens import AccessTokens, new_token
from weft.server.app import create_app
from weft.server.context import ServerContext
from weft.server.models import KnownModels
from weft.server.project_routes import studio_routes
from weft.server.settings import ServerSettings
from weft.server.uvicorn_server import bind, serve_app
from weft.sessions.sessions import Sessions
from weft.sessions.settings import SessionSettings
from weft.sessions.sqlite import SqliteStore


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--data", default="")
    parser.add_argument("--workspace", default="")
    parser.add_argument(
        "--page", default=os.environ.get("WEFT_PAGE", ""), help="a folder with another build of the page"
    )
    options = parser.parse_args()
    options.data = Path(options.data or tempfile.mkdtemp(prefix="weft-page-"))
    options.data.mkdir(parents=True, exist_ok=True)
    return options


async def main(options: argparse.Namespace) -> None:
    if options.page:
        server_routes._page_folder = partial(Path, options.page)  # pyright: ignore[reportPrivateUsage]
    settings = ServerSettings(port=options.port)
    bound = bind(settings)
    settings = msgspec.structs.replace(settings, port=bound.getsockname()[1])
    token = os.environ.get("WEFT_TOKEN") or new_token()
    context = ServerContext(
        Sessions(SqliteStore(options.data / "sessions.db")),
        KnownModels("scripted/quick", talkers()),
        settings=settings,
        tokens=AccessTokens({token: ""}),
        defaults=SessionSettings(model="scripted/quick", tools=["files", "todo", "ask"], permissions="ask"),
        workspaces={"demo": options.workspace} if options.workspace else {},
        tools={"paint": paint, "helper": helper},
    )
    ready = encode_text({"ready": True, "url": settings.address, "token": token, "pid": os.getpid()})
    await serve_app(create_app(context, [studio_routes]), context, bound, lambda: print(ready, flush=True))


if __name__ == "__main__":
    asyncio.run(main(read_options()))

"""Writes the TypeScript types of the API's bodies and views from its OpenAPI document, for clients/typescript.

`make docs` runs it; a test checks that the file is up to date.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TYPES = ROOT / "clients" / "typescript" / "src" / "api.generated.ts"
sys.path.insert(0, str(ROOT / "scripts"))

from make_event_types import SCHEMA, interface_text  # noqa: E402

from heald.sessions.memory import MemoryStore  # noqa: E402
from heald.sessions.sessions import Sessions  # noqa: E402
from heald_server.access.tokens import AccessTokens  # noqa: E402
from heald_server.app import list_routes  # noqa: E402
from heald_server.context import ServerContext  # noqa: E402
from heald_server.http.openapi import describe  # noqa: E402
from heald_server.models import KnownModels  # noqa: E402
from heald_server.settings import ServerSettings  # noqa: E402

_HEAD = """/** The bodies and views of the API. Made from its OpenAPI document by scripts/make_api_types.py. */
"""
_OF_CONTENT = ("Message",)
"""Types whose pictures and files may be stored as blobs."""


def types_text() -> str:
    context = ServerContext(
        Sessions(MemoryStore()), KnownModels(""), settings=ServerSettings(port=0), tokens=AccessTokens({"t" * 32: ""})
    )
    listed = list_routes(context)
    about = [description for description in listed.descriptions if description.tag == "about"]
    components = describe([*listed.operations, *about])["components"]["schemas"]
    events = json.loads(SCHEMA.read_text("utf-8"))["$defs"]
    interfaces = {
        name: kind for name, kind in sorted(components.items()) if name not in events and not name.endswith("Event")
    }
    text = "\n".join(interface_text(name, kind) for name, kind in interfaces.items())
    used = sorted(name for name in events if re.search(rf"\b{name}\b", text))
    imports = [
        f'import type {{ {", ".join(name for name in used if name in _OF_CONTENT)} }} from "./content.js";',
        f"import type {{ {', '.join(['Json', 'JsonObject', *(n for n in used if n not in _OF_CONTENT)])} }} "
        'from "./events.generated.js";',
        'import type { LogEvent as Event } from "./events.js";',
    ]
    return "\n".join([_HEAD, *imports, "", text])


def main() -> None:
    TYPES.write_text(types_text(), "utf-8")


if __name__ == "__main__":
    main()

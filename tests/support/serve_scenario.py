"""`heald serve` for `crash_host`, `{"arguments": …, "folder": …}`: what takes long to load is loaded once.

The server's ready line goes to `ready` in the folder, what it logs to `log`.
"""

import importlib
import os
import signal
from pathlib import Path
from typing import Any

from heald_cli.main import main as heald_main
from heald_cli.main import parser

LOADED_LATE = (
    "cryptography.hazmat.primitives.asymmetric.ed25519",
    "encodings.idna",
    "jsonschema_rs",
    "re2",
    "uvicorn.lifespan.on",
    "heald_cli.project_commands",
    "heald_cli.trusted_paths",
    "heald.commands.request_options",
    "heald.providers.context_size",
    "heald.providers.error_advice",
    "heald.providers.files",
    "heald.providers.session",
    "heald.providers.transport",
    "heald.sessions.session_comparison",
    "heald.sessions.store_copy",
    "heald_acp.configured_programs",
    "heald_acp.known_programs",
    "heald_acp.model",
    "heald_notify.protocol",
    "heald_notify.routes",
    "heald_notify.web_push",
    *(
        f"heald_server.protocols.{name}.protocol"
        for name in ("a2a", "ag_ui", "agentx", "ai_sdk", "loop", "mcp", "native", "normalized", "openai", "responses")
    ),
    "heald_server.protocols.ai_sdk.routes",
    "heald_server.protocols.a2a.http_routes",
    "heald_server.protocols.ag_ui.routes",
    "heald_server.protocols.openai.embedding_routes",
    "heald_server.protocols.mcp.resource_address",
    "heald_server.protocols.openai.routes",
    "heald_server.protocols.openai.text_routes",
    "heald_server.protocols.responses.routes",
    "heald_server.routes.api",
    "heald_server.routes.forks",
    "heald_server.routes.memory",
    "heald_server.routes.offers",
    "heald_server.routes.session_views",
    "heald_studio.server.routes",
    "heald.tools.files.access",
    "heald.tools.files.search",
    "heald.tools.hooks",
    "heald.tools.shell.tools",
    "heald.tools.web.fetch_tool",
    "heald.wires.chat",
    "heald.wires.ollama",
    "heald.wires.text_calls",
)
"""Modules that a server loads when it starts or is asked first: nine tenths of the processor time of its start."""


def warm_up() -> None:
    parser("serve")
    for name in LOADED_LATE:
        importlib.import_module(name)


def run(order: dict[str, Any]) -> None:
    folder = Path(order["folder"])
    for name, number in (("ready", 1), ("log", 2)):
        flags = os.O_CREAT | os.O_WRONLY | (os.O_APPEND if name == "log" else os.O_TRUNC)
        os.dup2(os.open(folder / name, flags, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    heald_main(["serve", *order["arguments"]])

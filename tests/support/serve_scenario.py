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
    "encodings.idna",
    "jsonschema_rs",
    "re2",
    "uvicorn.lifespan.on",
    "heald_cli.project_commands",
    "heald.providers.context_size",
    "heald.providers.files",
    "heald.providers.session",
    "heald.providers.transport",
    "heald_studio.server.routes",
    "heald.tools.files.access",
    "heald.tools.files.search",
    "heald.tools.hooks",
    "heald.tools.shell.tools",
    "heald.tools.web.fetch_tool",
    "heald.wires.chat",
    "heald.wires.text_calls",
)
"""Modules that a server loads when it starts or is asked first: four fifths of the processor time of its start."""


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

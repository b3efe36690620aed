"""A process that starts `weft serve` again and again, by forking: what takes long to load is loaded once.

One JSON line in, `{"arguments": …, "fault": …, "folder": …}`, and `{"pid": …}` comes out at once; the server's own
ready line goes to `ready` in the folder, what it logs to `log`. `{"wait": pid}` is answered with `{"status": …}` when
it has ended.
"""

import gc
import importlib
import json
import os
import signal
import sys
import traceback
from pathlib import Path

from weft.cli.main import main as weft_main
from weft.cli.main import parser
from weft.sessions import crash_points

LOADED_LATE = (
    "encodings.idna",
    "jsonschema_rs",
    "re2",
    "uvicorn.lifespan.on",
    "weft.cli.project_commands",
    "weft.providers.context_size",
    "weft.providers.files",
    "weft.providers.session",
    "weft.providers.transport",
    "weft.server.project_routes",
    "weft.tools.files.access",
    "weft.tools.files.search",
    "weft.tools.hooks",
    "weft.tools.shell.tools",
    "weft.tools.web.fetch_tool",
    "weft.wires.chat",
    "weft.wires.text_calls",
)
"""Modules that a server loads when it starts or is asked first: four fifths of the processor time of its start."""


def load_server() -> None:
    parser("serve")
    for name in LOADED_LATE:
        importlib.import_module(name)
    gc.freeze()  # what is loaded stays shared with the servers


def serve(order: dict[str, str]) -> None:
    folder = Path(order["folder"])
    for name, number in (("ready", 1), ("log", 2)):
        flags = os.O_CREAT | os.O_WRONLY | (os.O_APPEND if name == "log" else os.O_TRUNC)
        os.dup2(os.open(folder / name, flags, 0o600), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    crash_points.arm(order["fault"])
    weft_main(["serve", *order["arguments"]])


def main() -> None:
    load_server()
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            print(json.dumps({"status": os.waitpid(order["wait"], 0)[1]}), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                serve(order)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        print(json.dumps({"pid": pid}), flush=True)


if __name__ == "__main__":
    main()

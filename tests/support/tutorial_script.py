"""What a person types who follows the tutorial, as a script of bash."""

import socket

from doc_commands import lines
from doc_pages import ROOT, blocks

PAGE = ROOT / "docs" / "tutorial.md"
SERVER, CHAT = "python -m uvicorn", "heald chat"
INSTALLS = ("python3 -m venv", ".venv/bin/pip")


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def typed(port: int) -> list[str]:
    """What a person types, in the order of the page. Only the installation is left out: the environment is there."""
    commands: list[str] = []
    for block in blocks(PAGE):
        if block.file is not None:
            commands.append(f"cat > {block.file} <<'END_OF_FILE'\n{block.text}\nEND_OF_FILE")
        elif block.language == "console":
            commands += [line for line in lines(block) if not line.startswith(INSTALLS)]
    return [line.replace("7878", str(port)) for line in commands]


def as_script(line: str, port: int) -> str:
    """A line of the script. A server runs beside the rest until the end; a chat ends by itself: nobody is there."""
    mark = f"echo '@@ {line.splitlines()[0]}'"
    if line.startswith(SERVER):
        wait = f"until curl -s -o /dev/null http://127.0.0.1:{port}/; do sleep 0.2; done"
        return f"{mark}\n{line} > server.log 2>&1 &\nserver=$!\ntrap 'kill $server' EXIT\ntimeout 60 sh -c '{wait}'"
    if line.startswith(CHAT):
        return f"{mark}\nif {line} < /dev/null; then exit 7; fi"
    if line == "heald doctor":
        return f"{mark}\n{line} || true"  # it names what is missing on this machine
    return f"{mark}\n{line}"

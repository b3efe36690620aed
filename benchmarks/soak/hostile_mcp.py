"""An MCP server on stdio that floods its client: changed lists, large results, log lines without end."""

import json
import sys


def write(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def result_of(method: str, params: dict[str, object]) -> dict[str, object]:
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}, "logging": {}}
        server = {"name": "hostile", "version": "1"}
        return {"protocolVersion": params.get("protocolVersion"), "capabilities": capabilities, "serverInfo": server}
    if method == "tools/list":
        schema = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(200)}}
        names = ["flood", *(f"tool_{n}" for n in range(50))]
        return {"tools": [{"name": name, "description": "x" * 2000, "inputSchema": schema} for name in names]}
    if method == "tools/call":
        for _ in range(200):
            write({"method": "notifications/tools/list_changed"})
            write({"method": "notifications/message", "params": {"level": "info", "data": "x" * 1000}})
        return {"content": [{"type": "text", "text": "x" * 2_000_000}], "isError": False}
    return {}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request and "method" in request:
            write({"id": request["id"], "result": result_of(request["method"], request.get("params") or {})})


if __name__ == "__main__":
    main()

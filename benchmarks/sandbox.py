"""What the sandbox and its network add to a command: `true` bare, in the sandbox without a network and with one, one
after the other, many times.

python -m benchmarks.sandbox [rounds]
"""

import asyncio
import statistics
import sys
import tempfile

from heald.tools.shell.command_output import CommandOutput
from heald.tools.shell.network.command_gate import CommandGate, SessionHosts
from heald.tools.shell.network.proxy import NetworkProxy
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Sandbox


async def _once(sandbox: Sandbox, folder: str, *, network: bool = False) -> float:
    """Milliseconds from nothing to a command that has ended and left nothing."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    proxy = NetworkProxy(CommandGate(folder, "true", SessionHosts(), None)) if network else None
    process = Process(sandbox.prepare(folder, "true", proxy=proxy), CommandOutput())
    await process.wait()
    assert process.exit_code == 0
    return (loop.time() - began) * 1000


async def main(rounds: int) -> None:
    boxed, bare = Sandbox(), Sandbox(unsandboxed=True)
    reason = boxed.available()
    if reason is not None:
        sys.exit(reason)
    times: dict[str, list[float]] = {"bare": [], "sandboxed": [], "network": []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds + 5):
            for name in times:
                took = await _once(bare if name == "bare" else boxed, folder, network=name == "network")
                if turn >= 5:
                    times[name].append(took)
    for name, took in times.items():
        ranked = sorted(took)
        print(f"{name:<10} median {statistics.median(took):6.1f} ms   95 % {ranked[int(len(ranked) * 0.95)]:6.1f} ms")
    added = statistics.median(times["sandboxed"]) - statistics.median(times["bare"])
    more = statistics.median(times["network"]) - statistics.median(times["sandboxed"])
    print(f"added      median {added:6.1f} ms, by the network {more:.1f} ms more   ({rounds} rounds, interleaved)")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))

"""What the sandbox adds to a command: `true` bare and in the sandbox, one after the other, many times.

python -m benchmarks.sandbox [rounds]
"""

import asyncio
import statistics
import sys
import tempfile

from heald.tools.shell.command_output import CommandOutput
from heald.tools.shell.process import Process
from heald.tools.shell.sandbox import Sandbox


async def _once(sandbox: Sandbox, folder: str) -> float:
    """Milliseconds from nothing to a command that has ended and left nothing."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    process = Process(sandbox.prepare(folder, "true"), CommandOutput())
    await process.wait()
    assert process.exit_code == 0
    return (loop.time() - began) * 1000


async def main(rounds: int) -> None:
    boxed, bare = Sandbox(), Sandbox(unsandboxed=True)
    reason = boxed.available()
    if reason is not None:
        sys.exit(reason)
    times: dict[str, list[float]] = {"bare": [], "sandboxed": []}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(rounds + 5):
            for name, sandbox in (("bare", bare), ("sandboxed", boxed)):
                took = await _once(sandbox, folder)
                if turn >= 5:
                    times[name].append(took)
    for name, took in times.items():
        ranked = sorted(took)
        print(f"{name:<10} median {statistics.median(took):6.1f} ms   95 % {ranked[int(len(ranked) * 0.95)]:6.1f} ms")
    added = statistics.median(times["sandboxed"]) - statistics.median(times["bare"])
    print(f"added      median {added:6.1f} ms   ({rounds} rounds, interleaved)")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200))

"""One exchange in eight clients: random hops between them, with cut connections and kills of the server.

A short run by default; `make hops` makes a thousand hops, `HEALD_HOPS` as many as it says, from `HEALD_HOPS_SEED` on.
"""

import os
import sys
from pathlib import Path

import pytest
from crash_parts import Host, Server, endpoint
from hop_run import TOOL, HopRun, work_script

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="servers are forked")

HOPS = int(os.environ.get("HEALD_HOPS", "24"))
RUN = 125
"""Hops of one run."""
SEED = int(os.environ.get("HEALD_HOPS_SEED", "1"))


# A connection that is cut while it is being made leaves its socket to the garbage collector.
@pytest.mark.filterwarnings("ignore:.*unclosed <socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize("seed", range(SEED, SEED + max(1, HOPS // RUN)))
async def test_what_every_client_has_after_random_hops_is_the_log(seed: int, host: Host, tmp_path: Path) -> None:
    hops = min(HOPS, RUN)
    folder, effects = tmp_path / "server", tmp_path / "effects"
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "hop_effects.py").write_text(TOOL.format(effects=str(effects)))
    options = ("--permissions", "ask", "--tools", "none", "--tool", str(tools))
    async with endpoint(work_script) as model, Server(host, folder, model, *options) as server:
        assert await server.start()
        run = HopRun(server, effects, seed)
        try:
            await run.run(hops)
        finally:
            print(f"\n{run.counts}")
        assert "Traceback" not in (folder / "log").read_text()
    assert run.counts.hops >= hops
    assert run.counts.compared >= run.counts.exchanges * 8

"""A model at a steady pace as a process of its own. Several of them may share a port."""

import asyncio
import sys

from benchmarks.nodes.paced_model import PacedModel


async def _serve(port: int, pieces: int, rate: float) -> None:
    model = PacedModel(pieces, rate)
    await model.start(port=port, reuse_port=True)
    print(model.port, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))

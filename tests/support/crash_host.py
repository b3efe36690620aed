"""A process that forks one child for each order, each of which may be killed at a point of `crash_points`.

Its argument is the file of a scenario, a module with `warm_up()`, which loads and runs once what the children need, and
`run(order)`, which a child does. Each order is a line of JSON on standard input, each answer a line on standard output:

- `{"fault": …, …}` is answered with the wait status, `{"status": …}`, when the child has ended;
- with `"background": true` with `{"pid": …}` at once, and `{"wait": pid}` with the status later;
- `{"orders": […]}` with `{"statuses": […]}` when all children have ended, of which several run at once.

The child writes how often it passed each point to `passages` in the `folder` of its order, if the fault is `count`.
"""

import gc
import json
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import crash_points

AT_ONCE = 8

Order = dict[str, Any]


class Scenario(Protocol):
    def warm_up(self) -> None: ...

    def run(self, order: Order) -> None: ...


def load_scenario(path: Path) -> Any:
    sys.path.insert(0, str(path.parent))
    return import_module(path.stem)


def fork_child(scenario: Scenario, order: Order) -> int:  # pyrefly: ignore[bad-return]
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        crash_points.arm(order["fault"])
        scenario.run(order)
        if order["fault"] == "count":
            (Path(order["folder"]) / "passages").write_text(json.dumps(crash_points.passages))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def run_all(scenario: Scenario, orders: list[Order]) -> list[int]:
    statuses = [0] * len(orders)
    waiting = list(range(len(orders)))
    running: dict[int, int] = {}
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            number = waiting.pop(0)
            running[fork_child(scenario, orders[number])] = number
        pid, status = os.wait()
        statuses[running.pop(pid)] = status
    return statuses


def answer(scenario: Scenario, order: Order) -> Order:
    if "wait" in order:
        return {"status": os.waitpid(order["wait"], 0)[1]}
    if "orders" in order:
        return {"statuses": run_all(scenario, order["orders"])}
    pid = fork_child(scenario, order)
    return {"pid": pid} if order.get("background") else {"status": os.waitpid(pid, 0)[1]}


def main(path: str) -> None:
    scenario = load_scenario(Path(path))
    crash_points.install(postgres=getattr(scenario, "USES_POSTGRES", False))
    scenario.warm_up()
    gc.collect()
    gc.freeze()  # what is loaded stays shared with the children
    for line in sys.stdin:
        print(json.dumps(answer(scenario, json.loads(line))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])

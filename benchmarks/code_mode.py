"""What the same work costs with plain calls and with one program that makes the calls.

    python -m benchmarks.code_mode

Both models are scripted and make no mistake: the plain one makes all calls at once that do not depend on each other.
The requests go to a server, and their bodies are counted: four bytes are a token, as is usual for estimates. Nothing is
cached by a provider here. The answers of both are compared.
"""

import asyncio
import json
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

import heald
from heald.core.messages import ToolCall
from heald.testing.server import ReceivedRequest, Reply, ScriptedServer
from heald.testing.streams import wire_reply

BYTES_PER_TOKEN = 4
Calls = list[tuple[str, dict[str, Any]]]
Plain = Generator[Calls, list[Any], str]
"""Yields the calls of each message, gets their results, and returns the answer."""


class Scenario(NamedTuple):
    name: str
    make_tools: Callable[[], list[Callable[..., Any]]]
    plain: Callable[[], Plain]
    program: str


class Cost(NamedTuple):
    turns: int
    sent: int
    """Tokens of all requests."""
    written: int
    """Tokens that the model wrote."""
    answer: str

    @property
    def tokens(self) -> int:
        return self.sent + self.written


# --- the scenarios ------------------------------------------------------------------------------------------------


def chain_tools() -> list[Callable[..., Any]]:
    async def find_user(name: str) -> dict[str, Any]:
        """Find a user by name."""
        return {"id": "u7", "name": name, "email": "ada@example.com", "since": 2019, "plan": "team"}

    async def list_accounts(user_id: str) -> list[dict[str, Any]]:
        """List the accounts of a user."""
        return [{"id": "a1", "kind": "old", "owner": user_id}, {"id": "a2", "kind": "main", "owner": user_id}]

    async def last_order(account_id: str) -> dict[str, Any]:
        """The last order of an account."""
        return {"id": "o55", "account": account_id, "total": 120, "items": 4}

    async def get_shipment(order_id: str) -> dict[str, Any]:
        """The shipment of an order."""
        return {"id": "s9", "order": order_id, "carrier": "north"}

    async def track(shipment_id: str) -> dict[str, Any]:
        """Track a shipment."""
        return {"shipment": shipment_id, "city": "Bergen", "days": 2}

    return [find_user, list_accounts, last_order, get_shipment, track]


def chain() -> Plain:
    (user,) = yield [("find_user", {"name": "Ada"})]
    (accounts,) = yield [("list_accounts", {"user_id": user["id"]})]
    main = next(account for account in accounts if account["kind"] == "main")
    (order,) = yield [("last_order", {"account_id": main["id"]})]
    (shipment,) = yield [("get_shipment", {"order_id": order["id"]})]
    (place,) = yield [("track", {"shipment_id": shipment["id"]})]
    return f"{place['city']}, {place['days']} days"


CHAIN = """
user = find_user("Ada")
account = next(account for account in list_accounts(user["id"]) if account["kind"] == "main")
shipment = get_shipment(last_order(account["id"])["id"])
place = track(shipment["id"])
print(f"{place['city']}, {place['days']} days")
"""


def weather_tools() -> list[Callable[..., Any]]:
    async def weather(city: str) -> dict[str, Any]:
        """Weather of a city."""
        return {"city": city, "celsius": len(city) * 3 % 17, "wind": "north", "humidity": 70, "source": "station"}

    return [weather]


CITIES = [f"city{number * 37}" for number in range(20)]


def map_items() -> Plain:
    rows = yield [("weather", {"city": city}) for city in CITIES]
    return max(rows, key=lambda row: (row["celsius"], row["city"]))["city"]


MAP_ITEMS = f"""
rows = parallel(weather, {CITIES})
print(max(rows, key=lambda row: (row["celsius"], row["city"]))["city"])
"""


def order_tools() -> list[Callable[..., Any]]:
    async def list_orders(year: int) -> list[dict[str, Any]]:
        """List all orders of a year."""
        return [
            {"id": f"o{n}", "year": year, "total": n * 13 % 997, "state": "open" if n % 50 == 7 else "paid"}
            for n in range(400)
        ]

    return [list_orders]


def filter_list() -> Plain:
    (orders,) = yield [("list_orders", {"year": 2026})]
    return ", ".join(f"{order['id']}: {order['total']}" for order in orders if order["state"] == "open")


FILTER_LIST = """
print(", ".join(f"{order['id']}: {order['total']}" for order in list_orders(2026) if order["state"] == "open"))
"""


def page_tools() -> list[Callable[..., Any]]:
    async def list_invoices(page: int) -> dict[str, Any]:
        """One page of the invoices; `next` is the number of the next page, or null."""
        rows = [{"number": page * 25 + n, "usd": (page * 25 + n) * 7 % 101, "customer": f"c{n}"} for n in range(25)]
        return {"invoices": rows, "next": page + 1 if page < 6 else None}

    return [list_invoices]


def sum_pages() -> Plain:
    total, page = 0, 1
    while page is not None:
        (answer,) = yield [("list_invoices", {"page": page})]
        total += sum(invoice["usd"] for invoice in answer["invoices"])
        page = answer["next"]
    return str(total)


SUM_PAGES = """
total, page = 0, 1
while page is not None:
    answer = list_invoices(page)
    total += sum(invoice["usd"] for invoice in answer["invoices"])
    page = answer["next"]
print(total)
"""


def job_tools() -> list[Callable[..., Any]]:
    checks = 0

    async def start_job(name: str) -> dict[str, Any]:
        """Start a job."""
        return {"job": "j1", "name": name}

    async def job_state(job: str) -> dict[str, Any]:
        """The state of a job."""
        nonlocal checks
        checks += 1
        return {"job": job, "state": "done" if checks == 8 else "running", "percent": checks * 12, "exit_code": 0}

    return [start_job, job_state]


def loop() -> Plain:
    (job,) = yield [("start_job", {"name": "build"})]
    while True:
        (state,) = yield [("job_state", {"job": job["job"]})]
        if state["state"] == "done":
            return f"done, exit code {state['exit_code']}"


LOOP = """
job = start_job("build")["job"]
while (state := job_state(job))["state"] != "done":
    pass
print(f"done, exit code {state['exit_code']}")
"""


def join_tools() -> list[Callable[..., Any]]:
    async def list_employees() -> list[dict[str, Any]]:
        """List all employees, from the directory."""
        return [
            {"id": n, "name": f"employee {n}", "team": f"team {n % 6}", "mail": f"e{n}@example.com"} for n in range(80)
        ]

    async def list_laptops() -> list[dict[str, Any]]:
        """List all laptops, from the inventory."""
        return [{"serial": f"sn{n}", "owner": n * 3 % 80, "year": 2018 + n % 8, "model": "thin"} for n in range(80)]

    return [list_employees, list_laptops]


def join() -> Plain:
    employees, laptops = yield [("list_employees", {}), ("list_laptops", {})]
    old = {laptop["owner"] for laptop in laptops if laptop["year"] == 2018}
    return ", ".join(row["name"] for row in employees if row["id"] in old and row["team"] == "team 0")


JOIN = """
old = {laptop["owner"] for laptop in list_laptops() if laptop["year"] == 2018}
print(", ".join(row["name"] for row in list_employees() if row["id"] in old and row["team"] == "team 0"))
"""


def flaky_tools() -> list[Callable[..., Any]]:
    attempts = 0

    async def upload(name: str) -> dict[str, Any]:
        """Upload a file. The service is busy at times; try again then."""
        nonlocal attempts
        attempts += 1
        if attempts < 4:
            raise heald.ToolFault("The service is busy; try again.")
        return {"name": name, "url": f"https://files.example.com/{name}"}

    return [upload]


def retry() -> Plain:
    while True:
        (answer,) = yield [("upload", {"name": "report.pdf"})]
        if "busy" not in answer:
            return answer["url"]


RETRY = """
for attempt in range(10):
    try:
        print(upload("report.pdf")["url"])
        break
    except ToolError:
        pass
"""


def log_tools() -> list[Callable[..., Any]]:
    async def read_log(service: str) -> str:
        """Read the log of a service."""
        return "\n".join(
            f"2026-11-17 12:{n // 60:02}:{n % 60:02} {service} request {n} took {n % 90} ms" for n in range(900)
        )

    async def open_ticket(title: str, text: str) -> dict[str, Any]:
        """Open a ticket."""
        return {"ticket": "t12", "title": title, "length": len(text)}

    return [read_log, open_ticket]


def large_result() -> Plain:
    (text,) = yield [("read_log", {"service": "api"})]
    slow = [line for line in text.splitlines() if line.endswith(" 89 ms")]
    (ticket,) = yield [("open_ticket", {"title": "Slow requests", "text": "\n".join(slow)})]
    return f"{ticket['ticket']} with {len(slow)} lines"


LARGE_RESULT = """
slow = [line for line in read_log("api").splitlines() if line.endswith(" 89 ms")]
ticket = open_ticket("Slow requests", "\\n".join(slow))["ticket"]
print(f"{ticket} with {len(slow)} lines")
"""

SCENARIOS = (
    Scenario("chain of 5 dependent calls", chain_tools, chain, CHAIN),
    Scenario("20 items mapped", weather_tools, map_items, MAP_ITEMS),
    Scenario("filter a large list", order_tools, filter_list, FILTER_LIST),
    Scenario("sum over pages", page_tools, sum_pages, SUM_PAGES),
    Scenario("loop until a condition", job_tools, loop, LOOP),
    Scenario("join two services", join_tools, join, JOIN),
    Scenario("retry on error", flaky_tools, retry, RETRY),
    Scenario("large intermediate result", log_tools, large_result, LARGE_RESULT),
)


# --- the models ---------------------------------------------------------------------------------------------------


class PlainModel:
    """Makes the calls of a scenario one message after the other."""

    def __init__(self, scenario: Scenario) -> None:
        self._steps = scenario.plain()
        self.written: list[str] = []
        self._calls = 0

    def reply(self, request: ReceivedRequest) -> Reply:
        results = read_results(request.body["messages"])
        try:
            calls = self._steps.send(results) if results else next(self._steps)
        except StopIteration as end:
            self.written.append(end.value)
            return wire_reply("chat", text=end.value)
        return self._answer(calls)

    def _answer(self, calls: Calls) -> Reply:
        self.written += [name + json.dumps(arguments) for name, arguments in calls]
        first, self._calls = self._calls, self._calls + len(calls)
        return wire_reply(
            "chat",
            calls=[
                ToolCall(id=f"call_{first + at}", name=name, input=arguments)
                for at, (name, arguments) in enumerate(calls)
            ],
        )


class ProgramModel(PlainModel):
    """Writes one program, and repeats what it prints."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self._steps = self._run(scenario.program.strip())

    def _run(self, program: str) -> Plain:
        (printed,) = yield [("run_program", {"program": program})]
        return printed


def read_results(messages: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the results after the last message of the model, parsed where they are JSON."""
    results: list[Any] = []
    for message in reversed(messages):
        if message["role"] != "tool":
            break
        results.insert(0, parse(message["content"]))
    return results


def parse(text: str) -> Any:
    """Return a result as the model reads it, without the note that a repeated call has."""
    text = text.partition("\n")[2] if text.startswith("(") else text
    return json.loads(text) if text.startswith(("{", "[")) else text


async def measure(scenario: Scenario, model: PlainModel, *families: str) -> Cost:
    async with ScriptedServer(model.reply) as server:
        endpoint = heald.Model("model", base_url=f"{server.url}/v1", api_key="no-key")
        tools = [heald.tool(effect="read")(function) for function in scenario.make_tools()]
        agent = heald.Agent(endpoint, tools=[*families, *tools], instructions="You are a helpful assistant.")
        result = await agent.run("Please do it.")
        await agent.close()
        sent = sum(len(json.dumps(request.body).encode()) for request in server.requests)
    written = sum(map(len, model.written))
    return Cost(result.turns, sent // BYTES_PER_TOKEN, written // BYTES_PER_TOKEN, result.text)


async def compare() -> list[tuple[Scenario, Cost, Cost]]:
    """Run each scenario in both ways. Raises ValueError if their answers differ."""
    rows: list[tuple[Scenario, Cost, Cost]] = []
    for scenario in SCENARIOS:
        plain = await measure(scenario, PlainModel(scenario))
        program = await measure(scenario, ProgramModel(scenario), "code")
        if plain.answer != program.answer:
            raise ValueError(f"{scenario.name}: {plain.answer!r} and {program.answer!r} differ.")
        rows.append((scenario, plain, program))
    return rows


def main() -> None:
    rows = asyncio.run(compare())
    print(f"{'':<28}{'plain calls':>20}{'program':>20}")
    print(f"{'scenario':<28}{'tokens':>12}{'turns':>8}{'tokens':>12}{'turns':>8}{'saved':>9}")
    for scenario, plain, program in rows:
        saved = 1 - program.tokens / plain.tokens
        print(
            f"{scenario.name:<28}{plain.tokens:>12,}{plain.turns:>8}{program.tokens:>12,}{program.turns:>8}{saved:>9.0%}"
        )
    plain_tokens, program_tokens = sum(plain.tokens for _, plain, _ in rows), sum(cost.tokens for _, _, cost in rows)
    plain_turns, program_turns = sum(plain.turns for _, plain, _ in rows), sum(cost.turns for _, _, cost in rows)
    saved = 1 - program_tokens / plain_tokens
    print(f"{'all':<28}{plain_tokens:>12,}{plain_turns:>8}{program_tokens:>12,}{program_turns:>8}{saved:>9.0%}")


if __name__ == "__main__":
    main()

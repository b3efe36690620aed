"""Ten tasks that need tools, and the tools."""

from benchmarks.tasks.task import Function, ToolTask

_WEATHER = {"oslo": "-7 °C and snow", "rome": "19 °C and sun", "lima": "23 °C and fog"}
_RATES = {("usd", "eur"): 0.5, ("eur", "usd"): 2.0, ("eur", "sek"): 11.0}
_BOOKS = {"dune": ("Frank Herbert", 1965), "emma": ("Jane Austen", 1815)}
_STOCK = {"bolt": 417, "nut": 93, "washer": 0}


def weather(city: str) -> str:
    """Weather of a city."""
    return _WEATHER.get(city.strip().lower(), "unknown city")


def convert(amount: float, source: str, target: str) -> str:
    """Convert an amount of money between currencies such as usd and eur."""
    rate = _RATES.get((source.strip().lower(), target.strip().lower()))
    return "unknown currency" if rate is None else f"{amount * rate:g} {target.upper()}"


def book(title: str) -> str:
    """Author and year of a book."""
    entry = _BOOKS.get(title.strip().lower())
    return "unknown book" if entry is None else f"{entry[0]}, {entry[1]}"


def stock(part: str) -> str:
    """How many pieces of a part are in stock."""
    return str(_STOCK.get(part.strip().lower().rstrip("s"), "unknown part"))


FUNCTIONS: tuple[Function, ...] = (weather, convert, book, stock)

TOOL_TASKS = (
    ToolTask("one call", "What is the weather in Oslo?", ("-7",)),
    ToolTask("another word", "Do I need an umbrella or sunglasses in Rome today?", ("sun",)),
    ToolTask("two arguments", "How much is 80 usd in eur?", ("40",)),
    ToolTask("the other direction", "How many usd do I get for 15 eur?", ("30",)),
    ToolTask("a name", "Who wrote Dune?", ("herbert",)),
    ToolTask("a number", "In which year was Emma published?", ("1815",)),
    ToolTask("stock", "How many bolts are in stock?", ("417",)),
    ToolTask("nothing left", "Can I take washers from the stock? Look first.", ("0",)),
    ToolTask("two calls", "What is the weather in Oslo and in Lima?", ("-7", "23")),
    ToolTask("two tools", "How many nuts are in stock, and how much is 3 eur in sek?", ("93", "33")),
)

"""Thirty tasks that need tools, and the tools."""

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

MORE_TOOL_TASKS = (
    ToolTask("weather in Lima", "Is it foggy in Lima?", ("fog",)),
    ToolTask("degrees", "How many degrees does Lima have?", ("23",)),
    ToolTask("coat", "Shall I take a warm coat to Oslo?", ("-7",)),
    ToolTask("three cities", "Tell me the weather in Oslo, Rome and Lima.", ("-7", "19", "23")),
    ToolTask("snow", "Does it snow in Rome?", ("sun",)),
    ToolTask("a small amount", "Convert 7 eur to sek.", ("77",)),
    ToolTask("a decimal", "How much is 8.5 eur in usd?", ("17",)),
    ToolTask("a large amount", "I have 1200 usd. What is that in eur?", ("600",)),
    ToolTask("two amounts", "How much are 10 eur in usd, and 10 eur in sek?", ("20", "110")),
    ToolTask("a price", "A ticket costs 40 usd. What does it cost in eur?", ("20",)),
    ToolTask("an author", "Who is the author of Emma?", ("austen",)),
    ToolTask("a year", "When was Dune published?", ("1965",)),
    ToolTask("both books", "Who wrote Emma and who wrote Dune?", ("austen", "herbert")),
    ToolTask("the older book", "Which book is older, Dune or Emma? Name its year.", ("1815",)),
    ToolTask("nuts", "Are there nuts in stock, and how many?", ("93",)),
    ToolTask("enough", "I need 400 bolts. Are there enough? Say how many there are.", ("417",)),
    ToolTask("two parts", "How many bolts and how many nuts do we have in stock?", ("417", "93")),
    ToolTask("all parts", "List the stock of bolts, nuts and washers.", ("417", "93", "0")),
    ToolTask("weather and book", "What is the weather in Rome, and who wrote Dune?", ("19", "herbert")),
    ToolTask("money and stock", "How much is 6 eur in usd, and how many bolts are in stock?", ("12", "417")),
)

"""Twenty tool tasks for development: how tools are offered is chosen by them, and measured by those of `calling`."""

from benchmarks.tasks.task import Function, ToolTask

_KILOMETRES = {("paris", "lyon"): 465, ("lyon", "nice"): 471, ("paris", "lille"): 225}
_PHONES = {"karin": "555-0143", "omar": "555-0178", "yuki": "555-0126"}
_HOURS = {("bakery", "sunday"): "8 to 12", ("bakery", "monday"): "closed", ("museum", "sunday"): "10 to 17"}
_WORDS = {("cheese", "french"): "fromage", ("bread", "french"): "pain", ("bread", "german"): "Brot"}


def distance(start: str, end: str) -> str:
    """Kilometres by road between two towns."""
    first, last = start.strip().lower(), end.strip().lower()
    length = _KILOMETRES.get((first, last)) or _KILOMETRES.get((last, first))
    return "unknown towns" if length is None else f"{length} km"


def phone(name: str) -> str:
    """Phone number of a colleague."""
    return _PHONES.get(name.strip().lower(), "unknown colleague")


def opening(place: str, day: str) -> str:
    """Opening hours of a place on a day of the week."""
    return _HOURS.get((place.strip().lower(), day.strip().lower()), "unknown place or day")


def translate(word: str, language: str) -> str:
    """Translate an English word into another language."""
    return _WORDS.get((word.strip().lower(), language.strip().lower()), "unknown word or language")


DEVELOPMENT_FUNCTIONS: tuple[Function, ...] = (distance, phone, opening, translate)

DEVELOPMENT_TOOL_TASKS = (
    ToolTask("a distance", "What is the distance between Paris and Lyon?", ("465",)),
    ToolTask("a drive", "How far do I drive from Lyon to Nice?", ("471",)),
    ToolTask("the way back", "How many km is it from Lille to Paris?", ("225",)),
    ToolTask("fuel", "I can drive 400 km with a full tank. Do I get from Paris to Lyon? Say how far it is.", ("465",)),
    ToolTask("two drives", "How far is it from Paris to Lyon, and from Lyon to Nice?", ("465", "471")),
    ToolTask("a phone number", "What is the phone number of Karin?", ("0143",)),
    ToolTask("a call", "I want to call Omar. Which number do I dial?", ("0178",)),
    ToolTask("reach", "How can I reach Yuki?", ("0126",)),
    ToolTask("two colleagues", "Give me the phone numbers of Omar and Yuki.", ("0178", "0126")),
    ToolTask("three colleagues", "List the phone numbers of Karin, Omar and Yuki.", ("0143", "0178", "0126")),
    ToolTask("opening hours", "What are the opening hours of the museum on Sunday?", ("17",)),
    ToolTask("a closed door", "Is the bakery open on Monday?", ("closed",)),
    ToolTask("breakfast", "When can I buy rolls at the bakery on Sunday?", ("12",)),
    ToolTask("two places", "When are the bakery and the museum open on Sunday?", ("12", "17")),
    ToolTask("two days", "When is the bakery open on Sunday, and when on Monday?", ("12", "closed")),
    ToolTask("a translation", "Translate cheese into French.", ("fromage",)),
    ToolTask("another tongue", "How do you say bread in German?", ("brot",)),
    ToolTask("two languages", "What is bread in French, and what is it in German?", ("pain", "brot")),
    ToolTask("phone and hours", "What is Karin's phone number, and when is the museum open on Sunday?", ("0143", "17")),
    ToolTask("word and way", "Translate bread into French, and say how far Lille is from Paris.", ("pain", "225")),
)

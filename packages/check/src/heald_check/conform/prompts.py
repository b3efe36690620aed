"""The prompts and tools of the probes."""

from heald.core.json import JsonObject
from heald.core.messages import (
    ToolDefinition,
    assistant,
    user_message,
)
from heald.wires.text_conversation import describe_files

RED_PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAb0lEQVR4nO3PAQkAAAyEwO9feoshgnABdLep8QUNyPEFDcjxBQ3I8QUNyPEF"
    "DcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3I8QUNyPEFDcjxBQ3IPanc8OLDQitxAAAAAElF"
    "TkSuQmCC"
)
"""A PNG of 64 × 64 red pixels."""
HELLO = "Say hello in one short sentence."
LOCKER = "What is the number of my locker? Answer with the number only."
LOCKER_NUMBER = "4711"
UNICODE = "Grüße aus 東京 🚀 naïve"
REPEAT = f"Repeat exactly, with nothing before or after it: {UNICODE}"
WEATHER = "What is the weather in Oslo? Use the tool."
CLOCK = "What time is it? Use the tool."
NO_TOOL = "What could the weather in Oslo be like? Guess."
TWO_CITIES = "What is the weather in Oslo and in Rome? Call the tool once for each city, both calls in the same answer."
RESULT = "17 degrees and light rain"
COUNT = "Count from 1 to 300 in words, and leave nothing out."
FOUR_WORDS = "Write these four words on one line, in small letters: alpha beta gamma delta"
STOP = "gamma"
COLOUR = "What colour is this picture? Answer with one word."
LONG = "Write the numbers from 1 to 500 in words."
EDITED_FILE = "greeting.py"
EDIT = f"Change {EDITED_FILE} so that it prints Good evening instead of Good morning."
ATTACHED = describe_files({EDITED_FILE: "print('Good morning')\n"})
LIMIT = 16
UNKNOWN_MODEL = "heald-no-such-model"
WRONG_KEY = "heald-wrong-key"
_CITY: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
GET_WEATHER = ToolDefinition(name="get_weather", description="The weather in a city now.", input_schema=_CITY)
GET_TIME = ToolDefinition(name="get_time", description="The time now.")
LOCKER_TALK = (
    user_message(f"The number of my locker is {LOCKER_NUMBER}. Remember it."),
    assistant("I will remember it."),
    user_message("What colour is a clear sky?"),
    assistant("Blue."),
    user_message(LOCKER),
)

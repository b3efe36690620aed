"""A tool in ten lines."""

import heald


@heald.tool
async def weather(city: str) -> str:
    """Weather of a city."""
    return f"{city}: 3 °C, snow"


S = heald.testing.ScriptedModel
model = S([[S.call("weather", city="Oslo")], "It snows in Oslo: take a warm coat."])
print(heald.Agent(model, tools=[weather]).run_sync("What should I wear in Oslo?").text)

"""A family of tools: `tools=["units"]` of an agent, `--tools units` of the command."""

import heald

METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "inch": 0.0254, "foot": 0.3048, "mile": 1609.344}


def convert(value: float, source: str, target: str) -> float:
    return value * METRES[source] / METRES[target]


@heald.tool(effect="none")
async def convert_length(value: float, source: str, target: str) -> str:
    """Convert a length.

    Args:
        value: The number.
        source: Its unit: mm, cm, m, km, inch, foot or mile.
        target: The unit of the result.
    """
    if not {source, target} <= METRES.keys():
        raise heald.ToolFault(f"Use one of the units {', '.join(METRES)}.")
    return f"{convert(value, source, target):g} {target}"


FAMILY = (convert_length,)

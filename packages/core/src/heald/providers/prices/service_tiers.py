"""The prices of service tiers, as a factor on the standard price of a model's tokens.

The factors of GPT-4.1, GPT-5 and later, of flex and batches, and of Claude Opus 4.6 are those of the providers' pages:

- OpenAI: https://openai.com/api-fast-mode/ and https://developers.openai.com/api/docs/pricing
- Anthropic: https://platform.claude.com/docs/en/about-claude/pricing
- Google: https://ai.google.dev/gemini-api/docs/optimization
- Groq: https://console.groq.com/docs/flex-processing

The others (GPT-4.1 nano, GPT-4o, o3, o4-mini, codex-mini, Opus 4.7 to 5, and 1.8 for Gemini, whose page says 1.75 to 2)
are those of resellers and of the table of LiteLLM.

A tier that no page prices, such as `priority` on Bedrock, has no factor: the cost is then unknown.
"""

_Factors = tuple[tuple[str, float | None], ...]
"""Pairs of the beginning of a model's name and its factor, None if it is not known; the first that fits counts."""

_ALL = ""
_OPENAI_FAST: _Factors = (
    ("gpt-5.5", 2.5),
    ("gpt-5-mini", 1.8),
    ("gpt-5.1-codex-mini", 1.8),
    ("gpt-4.1-nano", 2.0),
    ("gpt-4.1", 1.75),
    ("gpt-4o-mini", 0.25 / 0.15),
    ("gpt-4o-2024-05-13", 1.75),
    ("gpt-4o", 1.7),
    ("o3", 1.75),
    ("o4-mini", 2.0 / 1.1),
    ("gpt-5", 2.0),
    ("gpt-6", 2.0),
)
_TIERS: dict[str, dict[str, _Factors]] = {
    "openai": {
        "flex": ((_ALL, 0.5),),
        "priority": _OPENAI_FAST,
        "fast": _OPENAI_FAST,
        "ultrafast": (("gpt-6-astra", 6.0), ("gpt-6.1-sol", 6.0)),
        "scale": ((_ALL, 1.0),),  # paid by commitment
    },
    "anthropic": {
        "priority": ((_ALL, 1.0),),  # paid by commitment, which is counted at the standard price
        "fast": (
            ("claude-opus-4-6", 6.0),
            ("claude-opus-4-7", 6.0),
            ("claude-opus-4-8", 2.0),
            ("claude-opus-5-5", None),
            ("claude-opus-5", 2.0),
        ),
    },
    "google": {"flex": ((_ALL, 0.5),), "priority": ((_ALL, 1.8),)},
    "groq": {"flex": ((_ALL, 1.0),)},
    "aws": {"reserved": ((_ALL, 1.0),)},  # paid by commitment
}
_BATCH = 0.5


def tier_factor(provider: str, model: str, tier: str | None) -> float | None:
    """Return the factor on the standard price; None if the price of the tier is not known. `provider` is the id of a
    provider in the price list."""
    if tier is None:
        return 1.0
    if tier == "batch":
        return _BATCH
    name = model.lower().rpartition("/")[2]
    factors = _TIERS.get(provider, {}).get(tier, ())
    return next((factor for beginning, factor in factors if name.startswith(beginning)), None)

"""The prices of tools that providers run and charge by use. The price list has those of some models; the rest are here.

- OpenAI: https://developers.openai.com/api/docs/pricing
- Anthropic: https://platform.claude.com/docs/en/about-claude/pricing
- Google: https://ai.google.dev/gemini-api/docs/pricing

Free quotas of a day or a month are not known here, so uses within them are counted too.
"""

from heald.providers.prices.price_list import Rates, base_of

_PER_THOUSAND: dict[str, dict[str, float]] = {
    "openai": {"web_search": 10.0, "file_search": 2.5, "code_container": 30.0},
    "anthropic": {"web_search": 10.0},
    "google": {"web_search": 14.0},
}
_BY_PROMPT = ("gemini-1", "gemini-2")
"""Models whose searches are charged once for a request that searches at all. Later ones are charged by query."""


def tool_dollars(provider: str, model: str, rates: Rates, uses: dict[str, int]) -> float | None:
    """Return the price of the uses of tools in one answer; None if one of them is not known."""
    dollars = 0.0
    for tool, count in uses.items():
        if provider == "google" and model.startswith(_BY_PROMPT):
            count = min(count, 1)
        rate = _rate(provider, rates, tool)
        if count and rate is None:
            return None
        dollars += count * (rate or 0.0) / 1000
    return dollars


def _rate(provider: str, rates: Rates, tool: str) -> float | None:
    """Return the dollars per thousand uses."""
    listed = {"web_search": rates.web_searches, "file_search": rates.file_searches}.get(tool)
    return base_of(listed) if listed is not None else _PER_THOUSAND.get(provider, {}).get(tool)

"""The rows by name. Each module holds one `ROW` and imports its library: load it in a process of its own."""

from types import MappingProxyType

ROWS = MappingProxyType(
    {
        "bare": "benchmarks.rows.bare",
        "heald": "benchmarks.rows.heald_session",
        "heald-agent": "benchmarks.rows.heald_agent",
        "openai": "benchmarks.rows.openai_sdk",
        "anthropic": "benchmarks.rows.anthropic_sdk",
        "google-genai": "benchmarks.rows.google_genai_sdk",
        "pydantic-ai": "benchmarks.rows.pydantic_ai_agent",
        "openai-agents": "benchmarks.rows.openai_agents_run",
        "langgraph": "benchmarks.rows.langgraph_agent",
        "strands": "benchmarks.rows.strands_agent",
    }
)

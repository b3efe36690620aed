"""Small coding and tool tasks with checks, for any model behind an OpenAI-compatible endpoint, beside other agents."""

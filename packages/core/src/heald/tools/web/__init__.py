"""Web access for tools: fetching from public addresses only, and converting pages to text."""

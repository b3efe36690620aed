"""Paths that several routes begin with."""

SESSION = "/sessions/{session}"

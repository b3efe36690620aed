"""Small helpers for text."""

from textkit.cases import snake_case, title_case

__all__ = ["snake_case", "title_case"]

"""Small helpers for text."""

from textkit.cases import snake_case, title_case
from textkit.slugs import slugify

__all__ = ["snake_case", "title_case"]

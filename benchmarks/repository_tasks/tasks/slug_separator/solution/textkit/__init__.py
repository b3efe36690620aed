"""Small helpers for text."""

from textkit.cases import snake_case, title_case
from textkit.slugs import slugify

__all__ = ["slugify", "snake_case", "title_case"]

"""Folders that no walk through a workspace enters."""

SKIPPED = frozenset((
    ".cache", ".git", ".gradle", ".hg", ".mypy_cache", ".next", ".nox", ".nuxt", ".parcel-cache",
    ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".turbo", ".venv", "__pycache__", "bower_components",
    "node_modules", "venv",
))  # fmt: skip
"""Folders of installed or generated files."""

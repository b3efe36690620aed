"""The `heald` command."""

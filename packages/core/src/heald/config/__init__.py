"""Configuration: the schema of all settings, `heald.toml` files, and whether a project's file is trusted."""

"""Configuration: the schema of all settings, `weft.toml` files, and whether a project's file is trusted."""

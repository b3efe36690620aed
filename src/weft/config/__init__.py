"""What people set in `weft.toml`: the files, their one schema, and whether a folder's file may be obeyed."""

"""A git repository around a workspace: checkpoints of its files, its status, its ignored files and a map of it."""

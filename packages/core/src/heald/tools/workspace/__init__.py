"""Workspaces: the files that tools may access, in a folder on disk or in memory."""

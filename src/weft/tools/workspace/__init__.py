"""The files that tools may touch: a folder on disk, or a project in memory."""

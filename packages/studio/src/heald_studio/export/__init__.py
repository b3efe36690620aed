"""Exports of a project: as files, as one page, without a network, or to a git remote."""

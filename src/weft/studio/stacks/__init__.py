"""Stacks: what a project can be built with. Each is one file that says its rules, its first files and its preview."""

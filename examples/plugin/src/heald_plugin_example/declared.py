"""Declares the command `heald convert`. `heald --help` loads this module, so it imports nothing else."""

from heald.plugins import Command

CONVERT = Command("convert", "convert a length", "heald_plugin_example.command")

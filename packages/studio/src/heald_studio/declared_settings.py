"""Declares the settings that the commands of the studio share with `heald serve`: the table `[studio]`."""

from heald.config.settings_table import SettingsTable

STUDIO_SETTINGS = SettingsTable(
    "studio",
    "heald_studio.commands.settings:StudioTable",
    {
        "build": ("prompts", "stacks"),
        "eval": ("prompts", "stacks"),
        "serve": ("prompts", "stacks", "eval_pictures"),
    },
)

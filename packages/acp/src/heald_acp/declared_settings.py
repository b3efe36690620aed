"""Declares the tables `[acp_agents.NAME]` of `heald.toml`."""

from heald.config.settings_table import SettingsTable

ACP_SETTINGS = SettingsTable("acp_agents", "heald_acp.settings:AcpAgentTable", {}, is_named=True)

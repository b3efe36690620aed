"""No settings of the machine are visible here: no keys, addresses, proxies or `heald.toml`."""

from clean_machine import clean_machine, headless_shell

__all__ = ["clean_machine", "headless_shell"]

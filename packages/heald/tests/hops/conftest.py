"""No settings of the machine are visible here, and servers are forked from one process."""

from clean_machine import clean_machine, headless_shell
from server_fixtures import host

__all__ = ["clean_machine", "headless_shell", "host"]

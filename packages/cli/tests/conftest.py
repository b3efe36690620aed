"""No settings of the machine are visible here: no keys, addresses, proxies or `heald.toml`."""

from clean_machine import clean_machine, headless_shell
from client_results import pytest_runtest_makereport

__all__ = ["clean_machine", "headless_shell", "pytest_runtest_makereport"]

"""The fixtures that all tests of servers share."""

from server_fixtures import host, module_schema

__all__ = ["host", "module_schema"]

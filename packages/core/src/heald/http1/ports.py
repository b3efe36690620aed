"""The default port of each scheme."""

PORTS = {"http": 80, "https": 443}

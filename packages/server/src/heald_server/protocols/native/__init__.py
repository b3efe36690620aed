"""The native protocol: the event log as it is stored."""

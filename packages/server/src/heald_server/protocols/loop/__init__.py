"""loop: the events of a plain tool loop over server-sent events."""

"""Dialects encode the event log for one kind of client. Pure: events in, frames out, no I/O and no clock."""

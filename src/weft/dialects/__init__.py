"""The log in the words of each kind of client. Pure: events in, frames out. No I/O, no clock."""

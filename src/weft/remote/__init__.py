"""The agent interface over a connection: a session on a server elsewhere, used as if it were here."""

"""For tests and demonstrations: a scripted HTTP server, and streams in the words of each wire."""

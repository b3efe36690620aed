from pathlib import Path

from referee import load

expected = (
    "; Settings of the print server\r\n[server]\r\nhost = 0.0.0.0\r\nport = 9090\r\ndebug = no\r\n\r\n"
    "[queue]\r\n; port of the queue, not of the server\r\nport = 8081\r\nlimit = 200\r\n"
)
assert Path("server.ini").read_bytes().decode() == expected
assert load("server").address() == ("0.0.0.0", 9090)

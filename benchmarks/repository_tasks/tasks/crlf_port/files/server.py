"""Reads server.ini."""

from configparser import ConfigParser


def address(path="server.ini"):
    parser = ConfigParser()
    parser.read(path, "utf-8")
    return parser["server"]["host"], parser.getint("server", "port")

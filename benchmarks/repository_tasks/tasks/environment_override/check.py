import os

from referee import load

config, server = load("notes.config"), load("notes.server")
os.environ.pop("NOTES_PORT", None)
assert server.base_address() == "http://127.0.0.1:7100/"
assert server.base_address("missing.json") == "http://127.0.0.1:7000/"
os.environ["NOTES_PORT"] = "8200"
assert config.load_config()["port"] == 8200
assert config.load_config("missing.json")["port"] == 8200
assert server.base_address() == "http://127.0.0.1:8200/"
for value in ("0", "65536", "http", "-1"):
    os.environ["NOTES_PORT"] = value
    try:
        config.load_config()
    except ValueError as error:
        assert "NOTES_PORT" in str(error), error
    else:
        raise AssertionError(value)
del os.environ["NOTES_PORT"]
assert config.load_config() == {"host": "127.0.0.1", "port": 7100, "folder": "notes"}
assert config.DEFAULTS["port"] == 7000

"""The tables of settings of the commands `serve`, `chat`, `acp` and `run`."""

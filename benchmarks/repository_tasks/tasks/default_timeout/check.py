import re
import tomllib

from referee import load, text

settings = load("fetcher.settings")
assert settings.DEFAULT_TIMEOUT == 45
assert settings.FetcherSettings().timeout == 45
read = settings.read_settings("")
assert (read.timeout, read.retries, read.pause) == (45, 3, 30)
read = settings.read_settings("[fetcher]\ntimeout = 5\nretries = 1\npause = 2")
assert (read.timeout, read.retries, read.pause) == (5, 1, 2)
assert tomllib.loads(text("fetcher.sample.toml")) == {"fetcher": {"timeout": 45, "retries": 3, "pause": 30}}
assert "# attempts after the first" in text("fetcher.sample.toml")
assert re.search(r"\| *timeout *\| *45 *\|", text("README.md"))
assert re.search(r"\| *pause *\| *30 *\|", text("README.md"))

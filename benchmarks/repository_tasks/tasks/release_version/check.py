import re
import tomllib

from referee import load, text

project = tomllib.loads(text("pyproject.toml"))["project"]
assert project["version"] == "1.5.0" and project["dependencies"] == ["steeping>=1.4.2"], project
assert load("teatime.about").about() == "teatime 1.5.0"
assert "pip install teatime==1.5.0" in text("README.md")
assert "releases before 1.4.2 have" in text("README.md")
parts = [part.strip() for part in re.split(r"^## ", text("CHANGELOG.md"), flags=re.M)]
assert parts == [
    "# Changelog",
    "Unreleased",
    "1.5.0\n\n- The reminder can play a sound.\n- Fixed: green tea was steeped for too long.",
    "1.4.2\n\n- Fixed: the timer stopped at midnight.",
], parts

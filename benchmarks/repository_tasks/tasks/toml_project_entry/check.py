import tomllib

from referee import load, text

data = tomllib.loads(text("pyproject.toml"))
project = data["project"]
assert project["scripts"] == {"weather": "weather.cli:main"}, project
assert project["requires-python"].replace(" ", "") == ">=3.11"
assert sorted(entry.replace(" ", "").replace("0.9.0", "0.9") for entry in project["dependencies"]) == ["requests>=2.31", "tabulate>=0.9"], project
assert project["name"] == "weather" and project["version"] == "0.3.0"
assert project["optional-dependencies"] == {"plots": ["matplotlib>=3.8"]}
assert data["tool"] == {"setuptools": {"packages": ["weather"]}}
assert data["build-system"] == {"requires": ["setuptools>=68"], "build-backend": "setuptools.build_meta"}
assert "# the service of the met office" in text("pyproject.toml")
assert load("weather.cli").main() == 0

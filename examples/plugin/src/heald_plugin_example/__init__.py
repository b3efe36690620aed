"""A plugin of Heald. `pyproject.toml` names what it offers; Heald imports each part when it is first needed."""

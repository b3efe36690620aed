import json


def read_names(path):
    """The translations of ingredients."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)

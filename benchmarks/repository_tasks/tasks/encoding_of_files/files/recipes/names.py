import json


def read_names(path):
    """The translations of ingredients."""
    with open(path) as file:
        return json.load(file)

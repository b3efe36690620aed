from pathlib import Path


def read_recipe(path):
    """The title and the ingredients of a recipe."""
    title, *ingredients = Path(path).read_text().splitlines()
    return {"title": title, "ingredients": [line.strip("- ") for line in ingredients if line]}

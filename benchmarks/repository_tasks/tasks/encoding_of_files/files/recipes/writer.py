def write_shopping_list(path, recipes):
    """Writes all ingredients, sorted, one per line."""
    ingredients = sorted({name for recipe in recipes for name in recipe["ingredients"]})
    with open(path, "w") as file:
        file.write("\n".join(ingredients) + "\n")

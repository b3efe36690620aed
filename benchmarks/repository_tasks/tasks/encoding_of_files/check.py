from referee import python, text

script = r"""
from recipes.names import read_names
from recipes.reader import read_recipe
from recipes.writer import write_shopping_list
recipe = read_recipe("book/souffle.txt")
assert recipe == {"title": "Souffl\u00e9", "ingredients": ["K\u00e4se", "Eier"]}, recipe
assert read_names("book/names.json") == {"K\u00e4se": "cheese", "Eier": "eggs"}
write_shopping_list("check.txt", [recipe])
"""
ascii_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
result = python("-c", script, environment=ascii_locale)
assert result.returncode == 0, result.stderr
assert text("check.txt") == "Eier\nK\u00e4se\n"
assert "Soufflé" in text("book/souffle.txt")

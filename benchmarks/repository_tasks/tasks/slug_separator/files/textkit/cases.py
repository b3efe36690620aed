import re


def snake_case(name):
    """snake_case of a CamelCase name."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def title_case(text):
    return " ".join(word.capitalize() for word in text.split())

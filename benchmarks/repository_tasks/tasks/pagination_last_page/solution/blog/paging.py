"""Cuts lists into pages, which count from 1."""


def page_count(total, size):
    return -(-total // size)


def page(items, number, size=10):
    """The items of a page."""
    if number < 1 or number > max(1, page_count(len(items), size)):
        raise IndexError(f"There is no page {number}.")
    start = (number - 1) * size
    return items[start : start + size]

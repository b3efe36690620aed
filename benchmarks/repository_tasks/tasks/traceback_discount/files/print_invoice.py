"""Prints one invoice."""

from invoice import subtotal, total


def lines_of(customer, lines):
    yield f"Customer: {customer['name']}"
    for line in lines:
        yield f"{line['quantity']:>4} x {line['title']}"
    yield f"Subtotal: {subtotal(lines):.2f}"
    yield f"Total: {total(customer, lines):.2f}"

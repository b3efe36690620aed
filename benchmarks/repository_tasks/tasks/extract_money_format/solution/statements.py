"""Lines of bank statements."""


def format_amount(cents, currency):
    """An amount with two decimals and its currency."""
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole:,}.{rest:02d} {currency}"


def deposit_line(date, cents, currency="EUR"):
    amount = format_amount(cents, currency)
    return f"{date}  deposit     {amount:>18}"


def withdrawal_line(date, cents, place, currency="EUR"):
    amount = format_amount(cents, currency)
    return f"{date}  withdrawal  {amount:>18}  {place}"


def balance_line(cents, currency="EUR"):
    amount = format_amount(cents, currency)
    return f"Balance: {amount}"

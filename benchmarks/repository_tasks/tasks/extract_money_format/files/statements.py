"""Lines of bank statements."""


def deposit_line(date, cents, currency="EUR"):
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    amount = f"{sign}{whole:,}.{rest:02d} {currency}"
    return f"{date}  deposit     {amount:>18}"


def withdrawal_line(date, cents, place, currency="EUR"):
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    amount = f"{sign}{whole:,}.{rest:02d} {currency}"
    return f"{date}  withdrawal  {amount:>18}  {place}"


def balance_line(cents, currency="EUR"):
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    amount = f"{sign}{whole:,}.{rest:02d} {currency}"
    return f"Balance: {amount}"

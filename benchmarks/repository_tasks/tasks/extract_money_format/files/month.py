from statements import balance_line, deposit_line, withdrawal_line


def statement(entries, currency="EUR"):
    """The statement of a month as text."""
    lines = []
    for entry in entries:
        if entry["cents"] >= 0:
            lines.append(deposit_line(entry["date"], entry["cents"], currency))
        else:
            lines.append(withdrawal_line(entry["date"], entry["cents"], entry["place"], currency))
    lines.append(balance_line(sum(entry["cents"] for entry in entries), currency))
    return "\n".join(lines)

_ENTRIES = []


def record(account, action, amount):
    """Keeps an action of an account; anything else is refused."""
    from bank.account import Account

    if not isinstance(account, Account):
        raise TypeError("Only accounts are audited.")
    _ENTRIES.append((account.owner, action, amount))


def entries_of(account):
    return [f"{action} {amount}" for owner, action, amount in _ENTRIES if owner == account.owner]

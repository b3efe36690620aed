_ENTRIES = []


def record(account, action, amount):
    """Keeps an action of an account; anything else is refused."""
    _ENTRIES.append((account.owner, action, amount))


def entries_of(account):
    return [f"{action} {amount}" for owner, action, amount in _ENTRIES if owner == account.owner]

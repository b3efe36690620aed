"""The name under which Heald is installed. Messages that advise an installation use it, so that none names another."""

DISTRIBUTION = "heald"


def install_advice(*extras: str, upgrade: bool = False) -> str:
    """Return the command that installs Heald with extras, for a message: `pip install 'heald[local]'`.

    `upgrade` also updates what is installed already.
    """
    name = f"'{DISTRIBUTION}[{','.join(extras)}]'" if extras else DISTRIBUTION
    return f"pip install {'-U ' if upgrade else ''}{name}"

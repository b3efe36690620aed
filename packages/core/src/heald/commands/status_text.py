"""The word that a terminal shows for the status of an exchange, a variant or a sub-agent."""


def status_text(status: str) -> str:
    """Return the word for a status: a person stops work, so that `cancelled` is shown as “stopped”."""
    return "stopped" if status == "cancelled" else status

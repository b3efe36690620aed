from pathlib import Path


def read_bytes(folder, user):
    try:
        return (Path(folder) / f"{user}.json").read_bytes()
    except FileNotFoundError:
        raise LookupError(f"There is no profile of {user}.") from None

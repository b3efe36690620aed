"""Deletes old backups."""

from pathlib import Path

from backups.naming import is_backup


def clean(folder, keep=3, dry_run=False):
    """Deletes all but the newest backups and returns the names of the deleted ones; names sort by date."""
    names = sorted(path.name for path in Path(folder).iterdir() if is_backup(path.name))
    old = names[:-keep] if keep else names
    if not dry_run:
        for name in old:
            (Path(folder) / name).unlink()
    return old

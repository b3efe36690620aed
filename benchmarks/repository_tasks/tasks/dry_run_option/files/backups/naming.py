import re


def is_backup(name):
    return re.fullmatch(r"backup-\d{4}-\d{2}-\d{2}\.zip", name) is not None

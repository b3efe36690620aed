from ledger.paths import file_path


def clear():
    file_path("cache").unlink(missing_ok=True)

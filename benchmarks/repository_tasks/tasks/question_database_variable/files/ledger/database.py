import sqlite3

from ledger.paths import file_path


def connect():
    return sqlite3.connect(file_path("store"))

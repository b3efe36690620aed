import hashlib
import sqlite3

from referee import load, text

DIGESTS = {
    "migrations/001_books.sql": "0ef6e6e2c7a52caf61e7204b9ed7e545a2e32b3911b3a9d06383375004a3b716",
    "migrations/002_loans.sql": "ea94945f3bad9100e4b5323d0f52a8924b9dfdb8df0eee8ed8b60159ce7a6968",
}
for path, digest in DIGESTS.items():
    assert hashlib.sha256(text(path).strip().encode()).hexdigest() == digest, f"{path} changed"
database = sqlite3.connect(":memory:")
database.executescript(text("migrations/001_books.sql") + text("migrations/002_loans.sql"))
database.execute("INSERT INTO books (title, author) VALUES ('Sand', 'Ito')")
database.execute("PRAGMA user_version = 2")
migrate = load("migrate").migrate
migrate(database)
migrate(database)
assert database.execute("SELECT title, language FROM books").fetchall() == [("Sand", "en")]
column = {row[1]: row for row in database.execute("PRAGMA table_info(books)")}["language"]
assert column[2].upper() == "TEXT" and column[3] == 1, column
indexed = [row[2] for row in database.execute("PRAGMA index_info(books_by_language)")]
assert indexed == ["language"], indexed
empty = sqlite3.connect(":memory:")
migrate(empty)
empty.execute("INSERT INTO books (title, author, language) VALUES ('Sol', 'Ru', 'es')")
empty.execute("INSERT INTO loans VALUES (1, 'Kim', '2024-01-01')")
try:
    empty.execute("INSERT INTO books (title, author, language) VALUES ('Sol', 'Ru', NULL)")
except sqlite3.IntegrityError:
    pass
else:
    raise AssertionError("language may be null")

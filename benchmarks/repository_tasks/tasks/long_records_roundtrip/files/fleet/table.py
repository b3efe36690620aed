"""Reads and writes tables: one row per line, columns separated by tabs."""


def read_table(text, record):
    return [record.from_row(line.split("\t")) for line in text.splitlines() if line]


def write_table(records):
    return "".join("\t".join(record.to_row()) + "\n" for record in records)

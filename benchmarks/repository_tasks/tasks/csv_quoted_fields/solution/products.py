"""Imports products from files that Excel exports."""

import csv
from dataclasses import dataclass


@dataclass
class Product:
    number: int
    title: str
    price: float


def read_products(path):
    """The products of a file whose first line is a heading."""
    products = []
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        for row in rows:
            if not row:
                continue
            number, title, price = row
            products.append(Product(int(number), title, float(price)))
    return products

"""Imports products from files that Excel exports."""

from dataclasses import dataclass


@dataclass
class Product:
    number: int
    title: str
    price: float


def read_products(path):
    """The products of a file whose first line is a heading."""
    products = []
    with open(path, encoding="utf-8") as file:
        next(file)
        for line in file:
            if not line.strip():
                continue
            number, title, price = line.strip().split(",")
            products.append(Product(int(number), title, float(price)))
    return products

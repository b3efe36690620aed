from pathlib import Path

from referee import load

module = load("products")
Path("check.csv").write_text(
    'number,title,price\n17,"Chair, oak",89.00\n\n18,"Screen 24"" wide",120\n19,Rug,10.5\n', "utf-8"
)
rows = [(product.number, product.title, product.price) for product in module.read_products("check.csv")]
assert rows == [(17, "Chair, oak", 89.0), (18, 'Screen 24" wide', 120.0), (19, "Rug", 10.5)], rows
assert load("value").stock_value("products.csv") == 275.5

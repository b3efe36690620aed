from products import read_products


def stock_value(path):
    return round(sum(product.price for product in read_products(path)), 2)

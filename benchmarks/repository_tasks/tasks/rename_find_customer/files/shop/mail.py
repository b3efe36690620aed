from shop import customers


def greeting(number):
    customer = customers.get_cust(number)
    return f"Dear {customer['name']}," if customer else "Hello,"

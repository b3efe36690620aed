from shop import customers


def greeting(number):
    customer = customers.find_customer(number)
    return f"Dear {customer['name']}," if customer else "Hello,"

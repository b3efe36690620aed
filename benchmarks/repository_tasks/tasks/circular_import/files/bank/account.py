from bank.audit import entries_of, record


class Account:
    def __init__(self, owner):
        self.owner = owner
        self.balance = 0

    def deposit(self, amount):
        self.balance += amount
        record(self, "deposit", amount)

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("The balance is too low.")
        self.balance -= amount
        record(self, "withdraw", amount)

    def history(self):
        return entries_of(self)

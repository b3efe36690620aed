from bank.account import Account

account = Account("Mia")
account.deposit(30)
account.withdraw(10)
print(account.balance)
print(account.history())

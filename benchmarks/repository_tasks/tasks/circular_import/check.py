from referee import python

result = python("main.py")
assert result.stdout == "20\n['deposit 30', 'withdraw 10']\n", result
script = """
from bank.audit import record
try:
    record("Mia", "deposit", 5)
except TypeError:
    print("refused")
from bank.account import Account
record(Account("Tom"), "deposit", 5)
"""
result = python("-c", script)
assert result.returncode == 0 and result.stdout == "refused\n", result

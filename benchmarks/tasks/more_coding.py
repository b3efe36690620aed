"""Ten more coding tasks, written after the first ten were solved."""

from benchmarks.tasks.task import CodingTask

_ACCOUNT = '''class Account:
    """A bank account."""

    def __init__(self, balance=0):
        self.balance = balance

    def deposit(self, amount):
        self.balance += amount

    def withdraw(self, amount):
        self.balance -= amount
        return self.balance
'''
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Draft</title>
</head>
<body>
  <h1>Garden</h1>
</body>
</html>
"""

MORE_CODING_TASKS = (
    CodingTask(
        "conversion",
        "Write temperature.py with a function to_celsius(fahrenheit) that returns the degrees Celsius, rounded to one "
        "decimal.",
        "from temperature import to_celsius as c; assert c(32) == 0 and c(212) == 100 and c(100) == 37.8",
    ),
    CodingTask(
        "even length",
        "median in middle.py is wrong for lists of even length: it must return the mean of the two middle numbers.",
        "from middle import median as m; assert m([3, 1, 2]) == 2 and m([4, 1, 3, 2]) == 2.5",
        {
            "middle.py": "def median(numbers):\n    ordered = sorted(numbers)\n    return ordered[len(ordered) // 2]\n",
        },
    ),
    CodingTask(
        "a copy",
        "by_age in people.py changes the list that it is given. It should return a new list instead.",
        "from people import by_age, names; a = [{'name': 'B', 'age': 9}, {'name': 'A', 'age': 3}]; b = by_age(a); "
        "assert a[0]['age'] == 9 and [p['age'] for p in b] == [3, 9] and names(a) == ['B', 'A']",
        {
            "people.py": "def names(people):\n    return [person['name'] for person in people]\n\n\n"
            "def by_age(people):\n    people.sort(key=lambda person: person['age'])\n    return people\n",
        },
    ),
    CodingTask(
        "page title",
        "Change the title of index.html to Welcome. The heading stays.",
        "t = open('index.html').read(); assert '<title>Welcome</title>' in t and '<h1>Garden</h1>' in t and "
        "'charset=\"utf-8\"' in t and 'Draft' not in t",
        {"index.html": _PAGE},
    ),
    CodingTask(
        "slug",
        "Create slug.py with a function slugify(text): lower case, words joined by single hyphens, all characters but "
        "letters and digits dropped.",
        "from slug import slugify as s; assert s('Hello World') == 'hello-world' and s('  A  b ') == 'a-b' and "
        "s('Rock & Roll!') == 'rock-roll'",
    ),
    CodingTask(
        "refusal",
        "withdraw in account.py should raise ValueError if the amount is more than the balance.",
        "from account import Account\na = Account(10)\nassert a.withdraw(4) == 6\na.deposit(1)\n"
        "try:\n    a.withdraw(8)\nexcept ValueError:\n    assert a.balance == 7\nelse:\n    assert False",
        {"account.py": _ACCOUNT},
    ),
    CodingTask(
        "capitals",
        "count_vowels in letters.py does not count capital vowels. Fix it.",
        "from letters import count_vowels as c; assert c('Anna') == 2 and c('xyz') == 0 and c('EIO') == 3",
        {
            "letters.py": "def count_vowels(text):\n    return sum(1 for letter in text if letter in 'aeiou')\n",
        },
    ),
    CodingTask(
        "table row",
        "Add Dora with the id 4 to people.csv.",
        "import csv; r = list(csv.reader(open('people.csv'))); assert [c.strip() for c in r[4]] == ['4', 'Dora'] and "
        "r[0] == ['id', 'name'] and len([x for x in r if x]) == 5",
        {"people.csv": "id,name\n1,Ada\n2,Ben\n3,Cem\n"},
    ),
    CodingTask(
        "moved constant",
        "Move the constant LIMIT from app.py to a new file limits.py and import it in app.py.",
        "import limits, app; assert limits.LIMIT == 25 and app.allowed(24) and not app.allowed(26); "
        "assert 'LIMIT =' not in open('app.py').read()",
        {"app.py": "LIMIT = 25\n\n\ndef allowed(count):\n    return count <= LIMIT\n"},
    ),
    CodingTask(
        "optional argument",
        "join_words in text.py should accept an optional separator, a comma and a space if none is given.",
        "from text import join_words as j; assert j(['a', 'b']) == 'a, b' and j(['a', 'b'], '-') == 'a-b'",
        {"text.py": "def join_words(words):\n    return ' '.join(words)\n"},
    ),
)

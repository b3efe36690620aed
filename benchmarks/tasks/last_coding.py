"""Ten coding tasks that were written last, and run once for the table."""

from benchmarks.tasks.task import CodingTask

_QUEUE = '''class Queue:
    """A first-in, first-out store."""

    def __init__(self):
        self.items = []

    def put(self, item):
        self.items.append(item)

    def get(self):
        return self.items.pop()
'''
_PRICES = """def net(price):
    return round(price / 1.2, 2)


def gross(price):
    return round(price * 1.2, 2)
"""

LAST_CODING_TASKS = (
    CodingTask(
        "leap year",
        "Write years.py with a function is_leap(year) for the Gregorian calendar.",
        "from years import is_leap as l; assert l(2024) and l(2000) and not l(1900) and not l(2023)",
    ),
    CodingTask(
        "wrong end",
        "get in queue_store.py should return the item that was put first. It returns the last one. Fix it.",
        "from queue_store import Queue; q = Queue(); q.put(1); q.put(2); assert q.get() == 1 and q.get() == 2",
        {"queue_store.py": _QUEUE},
    ),
    CodingTask(
        "tax rate",
        "The tax in prices.py is 25 percent now, not 20. Change both functions.",
        "from prices import gross, net; assert gross(100) == 125 and net(125) == 100",
        {"prices.py": _PRICES},
    ),
    CodingTask(
        "word count",
        "Create count.py with a function word_count(text) that returns a dict of each word in lower case and how often "
        "it occurs.",
        "from count import word_count as w; assert w('a b A') == {'a': 2, 'b': 1} and w('') == {}",
    ),
    CodingTask(
        "dependency",
        "Add the dependency httpx with the version 0.28 to the list in project.json.",
        "import json; p = json.load(open('project.json')); d = p['dependencies']; assert p['name'] == 'site' and "
        "d['flask'] == '3.0' and d['httpx'] == '0.28' and len(d) == 2",
        {"project.json": '{\n  "name": "site",\n  "dependencies": {\n    "flask": "3.0"\n  }\n}\n'},
    ),
    CodingTask(
        "missing key",
        "age_of in persons.py fails with KeyError for an unknown name. It should return None then.",
        "from persons import age_of; assert age_of('Ada') == 36 and age_of('Nobody') is None",
        {"persons.py": "AGES = {'Ada': 36, 'Ben': 41}\n\n\ndef age_of(name):\n    return AGES[name]\n"},
    ),
    CodingTask(
        "new rule",
        "Add a rule to site.css: links have no underline (text-decoration: none). Keep the other rules.",
        "t = open('site.css').read().replace(' ', '').replace('\\n', ''); assert 'text-decoration:none' in t and "
        "'h1{font-size:2rem;}' in t and 'a' in t.split('text-decoration')[0].rsplit('}', 1)[-1]",
        {"site.css": "h1 {\n  font-size: 2rem;\n}\n"},
    ),
    CodingTask(
        "new name",
        "Rename the class Car in car.py to Vehicle, also in garage.py.",
        "import car, garage; assert hasattr(car, 'Vehicle') and not hasattr(car, 'Car'); "
        "assert garage.first().wheels == 4",
        {
            "car.py": "class Car:\n    wheels = 4\n",
            "garage.py": "from car import Car\n\n\ndef first():\n    return Car()\n",
        },
    ),
    CodingTask(
        "largest",
        "largest in extremes.py returns the smallest number. Fix it, and let it return None for an empty list.",
        "from extremes import largest, smallest; assert largest([2, 9, 4]) == 9 and largest([]) is None and "
        "smallest([2, 9]) == 2",
        {
            "extremes.py": "def smallest(numbers):\n    return min(numbers)\n\n\n"
            "def largest(numbers):\n    return min(numbers)\n",
        },
    ),
    CodingTask(
        "greeting page",
        "Create hello.html, a complete HTML page with the title Hello and the heading Good morning.",
        "l = open('hello.html').read().lower(); assert '<title>hello</title>' in l and 'good morning</h1>' in l and "
        "'<html' in l and '</html>' in l",
    ),
)

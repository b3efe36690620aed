"""Ten small coding tasks."""

from benchmarks.tasks.task import CodingTask

_STACK = '''class Stack:
    """A last-in, first-out store."""

    def __init__(self):
        self.items = []

    def push(self, item):
        self.items.append(item)

    def pop(self):
        return self.items.pop()
'''
_INVOICE = '''def total(lines):
    """Sum of the amounts of all lines."""
    result = 0
    for index in range(1, len(lines)):
        result += lines[index]["amount"]
    return result
'''

CODING_TASKS = (
    CodingTask(
        "wrong sign",
        "The function add in calc.py subtracts. Fix it.",
        "from calc import add, double; assert add(2, 3) == 5 and add(-1, 1) == 0 and double(4) == 8",
        {"calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return 2 * a\n"},
    ),
    CodingTask(
        "new module",
        "Write words.py with a function is_palindrome(text) that ignores case and everything but letters and digits.",
        "from words import is_palindrome as p; assert p('A man, a plan, a canal: Panama') and not p('ab') and p('')",
    ),
    CodingTask(
        "fizzbuzz",
        "Create fizz.py with a function fizzbuzz(n) that returns the list of strings for 1 to n: Fizz for multiples of "
        "3, Buzz for multiples of 5, FizzBuzz for both, else the number.",
        "from fizz import fizzbuzz as f; r = f(15); assert r[2] == 'Fizz' and r[4] == 'Buzz' and r[14] == 'FizzBuzz' "
        "and r[0] == '1' and len(r) == 15",
    ),
    CodingTask(
        "off by one",
        "total in invoice.py leaves out the first line. Fix it.",
        "from invoice import total; assert total([{'amount': 5}, {'amount': 7}]) == 12 and total([]) == 0",
        {"invoice.py": _INVOICE},
    ),
    CodingTask(
        "new method",
        "Add a method peek to the class in stack.py that returns the last item without removing it, and None if it is "
        "empty.",
        "from stack import Stack; s = Stack(); assert s.peek() is None; s.push(1); s.push(2); "
        "assert s.peek() == 2 and s.pop() == 2 and s.pop() == 1",
        {"stack.py": _STACK},
    ),
    CodingTask(
        "json setting",
        "Set debug to true in config.json and leave the rest as it is.",
        "import json; c = json.load(open('config.json')); assert c == {'name': 'shop', 'debug': True, 'port': 8080}",
        {"config.json": '{\n  "name": "shop",\n  "debug": false,\n  "port": 8080\n}\n'},
    ),
    CodingTask(
        "css colour",
        "In style.css make the background of .button #ff0000. Change nothing else.",
        "t = open('style.css').read().replace(' ', '').lower(); assert 'background:#ff0000' in t and 'color:white' in "
        "t and '#0000ff' not in t and 'margin:0' in t",
        {"style.css": "body {\n  margin: 0;\n}\n\n.button {\n  color: white;\n  background: #0000ff;\n}\n"},
    ),
    CodingTask(
        "default value",
        "greet in hello.py should greet 'world' if it is called without a name.",
        "from hello import greet; assert greet() == 'Hello, world!' and greet('Ada') == 'Hello, Ada!'",
        {"hello.py": "def greet(name):\n    return f'Hello, {name}!'\n"},
    ),
    CodingTask(
        "two files",
        "Rename the function area in shapes.py to rectangle_area, also where main.py uses it.",
        "import shapes; assert shapes.rectangle_area(2, 3) == 6 and not hasattr(shapes, 'area'); import main; "
        "assert main.room() == 12",
        {
            "shapes.py": "def area(width, height):\n    return width * height\n",
            "main.py": "from shapes import area\n\n\ndef room():\n    return area(3, 4)\n",
        },
    ),
    CodingTask(
        "guard",
        "mean in stats.py fails for an empty list. Let it return 0 then.",
        "from stats import mean; assert mean([]) == 0 and mean([1, 2, 3]) == 2",
        {"stats.py": "def mean(numbers):\n    return sum(numbers) / len(numbers)\n"},
    ),
)

"""Fifty small tasks: a file, a request, and the file after it. Five in each of ten languages."""

from dataclasses import dataclass

_SHOP_PY = '''\
"""Prices of a shop."""

import json

TAX = 0.19


def net(prices):
    """The sum without tax."""
    total = 0
    for price in prices:
        total += price
    return total


def gross(prices):
    return net(prices) * (1 - TAX)


class Basket:
    def __init__(self):
        self.prices = []

    def add(self, price):
        self.prices.append(price)

    def total(self):
        return gross(self.prices)


def load(path):
    with open(path) as file:
        return json.load(file)
'''
_CART_JS = """\
import { format } from './format.js';

const LIMIT = 100;

export function count(items) {
  return items.length;
}

export function sum(items) {
  let total = 0;
  for (const item of items) {
    total -= item.price;
  }
  return total;
}

export class Cart {
  constructor() {
    this.items = [];
  }

  add(item) {
    if (this.items.length > LIMIT) {
      throw new Error('full');
    }
    this.items.push(item);
  }

  label() {
    return `${count(this.items)} items: ${format(sum(this.items))}`;
  }
}
"""
_STYLE_CSS = """\
:root {
  --accent: #336699;
}

body {
  margin: 0;
  font-family: sans-serif;
}

.button {
  color: white;
  background: var(--accent);
  padding: 4px 8px;
}

.button:hover {
  opacity: 0.8;
}

@media (max-width: 600px) {
  .menu {
    display: none;
  }
}

.footer {
  text-align: center;
}
"""
_PAGE_HTML = """\
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Notes</title>
    <link rel="stylesheet" href="style.css">
  </head>
  <body>
    <header id="top">
      <h1>Notes</h1>
    </header>
    <main id="list">
      <ul>
        <li>Milk</li>
        <li>Bread</li>
      </ul>
      <button type="submit">Save</button>
    </main>
    <footer id="end">
      <p>Written by hand.</p>
    </footer>
  </body>
</html>
"""
_CI_YAML = """\
name: checks
on:
  push:
    branches: [main]
env:
  COLOR: "1"
jobs:
  test:
    runs-on: ubuntu-22.04
    steps:
      - uses: actions/checkout@v3
      - name: Install
        run: pip install .
      - name: Test
        run: pytest -q
  lint:
    runs-on: ubuntu-22.04
    steps:
      - uses: actions/checkout@v4
      - name: Lint
        run: ruff check
"""
_PACKAGE_JSON = """\
{
  "name": "notes",
  "version": "1.0.0",
  "private": true,
  "scripts": {
    "build": "tsc",
    "test": "node --test"
  },
  "dependencies": {
    "left-pad": "1.3.0",
    "preact": "10.0.0"
  },
  "license": "MIT"
}
"""
_SCHEMA_SQL = """\
-- Tables of the shop.
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL
);

CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer INTEGER REFERENCES customers(id),
    total REAL
);

CREATE INDEX orders_by_customer ON orders (customer);

INSERT INTO customers (id, name) VALUES (1, 'Ada');

CREATE VIEW totals AS
SELECT customer, SUM(total) AS total
FROM orders
GROUP BY id;
"""
_README_MD = """\
# Notes

A small program for notes.

## Install

Python 3.9 is needed.

```
pip install notes
```

## Use

Start it and write:

```python
import notes

notes.write("milk")
```

The notes are kept in a file.

## Licence

MIT
"""
_PYPROJECT_TOML = """\
[project]
name = "notes"
version = "1.0.0"
requires-python = ">=3.9"
dependencies = [
    "httpx",
    "rich",
]

[project.scripts]
notes = "notes.main:run"

[tool.ruff]
line-length = 80

[tool.pytest.ini_options]
addopts = "-q"
"""
_STACK_GO = """\
package stack

import "errors"

// ErrEmpty is returned if there is nothing to take.
var ErrEmpty = errors.New("empty")

// Stack holds numbers.
type Stack struct {
	items []int
}

// Push adds a number.
func (s *Stack) Push(item int) {
	s.items = append(s.items, item)
}

// Pop takes the last number.
func (s *Stack) Pop() (int, error) {
	if len(s.items) == 0 {
		return 0, nil
	}
	item := s.items[len(s.items)-1]
	s.items = s.items[:len(s.items)-1]
	return item, nil
}

// Len counts the numbers.
func (s *Stack) Len() int {
	return len(s.items)
}
"""
_Change = tuple[str, str, str]
"""A request, a text, and what replaces it."""
_CHANGES: dict[str, tuple[str, list[_Change]]] = {
    "shop{}.py": (
        _SHOP_PY,
        [
            ("Fix gross in {}: the tax must be added.", "(1 - TAX)", "(1 + TAX)"),
            ("Change the tax in {} to 7 percent.", "TAX = 0.19", "TAX = 0.07"),
            (
                "Add a method clear to Basket in {}.",
                "    def total(self):",
                "    def clear(self):\n        self.prices = []\n\n    def total(self):",
            ),
            (
                "Use sum() in net of {}.",
                "    total = 0\n    for price in prices:\n        total += price\n    return total\n",
                "    return sum(prices)\n",
            ),
            ("load in {} must read UTF-8.", "open(path)", 'open(path, encoding="utf-8")'),
        ],
    ),
    "cart{}.js": (
        _CART_JS,
        [
            ("sum in {} has the wrong sign. Fix it.", "total -= item.price", "total += item.price"),
            ("Set the limit in {} to 50.", "LIMIT = 100", "LIMIT = 50"),
            ("Fix the comparison in add of {}: the limit itself is too many.", "length > LIMIT", "length >= LIMIT"),
            (
                "Add a method clear to Cart in {}.",
                "  label() {",
                "  clear() {\n    this.items = [];\n  }\n\n  label() {",
            ),
            ("Change the error in {} to say which cart is full.", "new Error('full')", "new Error('the cart is full')"),
        ],
    ),
    "style{}.css": (
        _STYLE_CSS,
        [
            ("Change the accent color in {} to #ff8800.", "#336699", "#ff8800"),
            ("Make the padding of .button in {} 8px 16px.", "4px 8px", "8px 16px"),
            ("The menu in {} must be a block on small screens. Fix that.", "display: none", "display: block"),
            (
                "Add a border radius of 4px to .button in {}.",
                "  padding: 4px 8px;",
                "  padding: 4px 8px;\n  border-radius: 4px;",
            ),
            ("Update the hover opacity in {} to 0.6.", "opacity: 0.8", "opacity: 0.6"),
        ],
    ),
    "page{}.html": (
        _PAGE_HTML,
        [
            ("Change the title of {} to Shopping.", "<title>Notes</title>", "<title>Shopping</title>"),
            ("Add eggs to the list in {}.", "        <li>Bread</li>", "        <li>Bread</li>\n        <li>Eggs</li>"),
            ("The button in {} must not submit. Fix it.", 'type="submit"', 'type="button"'),
            ("Set the language of {} to German.", 'lang="en"', 'lang="de"'),
            ("Update the footer of {}: it is written by a machine.", "by hand", "by a machine"),
        ],
    ),
    "checks{}.yaml": (
        _CI_YAML,
        [
            ("Update checkout in {} to v4 in the test job.", "checkout@v3", "checkout@v4"),
            ("Run on the branch dev too, change {}.", "[main]", "[main, dev]"),
            (
                "Add a step Types to the lint job of {}.",
                "        run: ruff check",
                "        run: ruff check\n      - name: Types\n        run: pyright",
            ),
            ("Change the tests in {} to run with -x.", "pytest -q", "pytest -q -x"),
            ("Set COLOR in {} to 0.", 'COLOR: "1"', 'COLOR: "0"'),
        ],
    ),
    "package{}.json": (
        _PACKAGE_JSON,
        [
            ("Bump the version in {} to 1.1.0.", '"version": "1.0.0"', '"version": "1.1.0"'),
            ("Add a script lint to {}.", '"build": "tsc",', '"build": "tsc",\n    "lint": "eslint .",'),
            ("Update preact in {} to 10.5.0.", "10.0.0", "10.5.0"),
            ("Make {} public by setting private to false.", '"private": true', '"private": false'),
            ("Change the license in {} to Apache-2.0.", '"MIT"', '"Apache-2.0"'),
        ],
    ),
    "schema{}.sql": (
        _SCHEMA_SQL,
        [
            (
                "Add a column email to customers in {}.",
                "    name TEXT NOT NULL",
                "    name TEXT NOT NULL,\n    email TEXT",
            ),
            ("Fix the view in {}: it must group by customer.", "GROUP BY id", "GROUP BY customer"),
            ("The total in orders of {} must not be null.", "total REAL", "total REAL NOT NULL"),
            ("Change the name of the customer in {} to Grace.", "'Ada'", "'Grace'"),
            ("Make the index in {} unique.", "CREATE INDEX", "CREATE UNIQUE INDEX"),
        ],
    ),
    "README{}.md": (
        _README_MD,
        [
            ("Update {}: Python 3.11 is needed.", "3.9", "3.11"),
            ("Change the install command in {} to use uv.", "pip install notes", "uv pip install notes"),
            (
                "Add a line that reads the notes to the example in {}.",
                'notes.write("milk")',
                'notes.write("milk")\nprint(notes.read())',
            ),
            ("Change the licence in {} to Apache 2.0.", "\nMIT\n", "\nApache 2.0\n"),
            ("Fix {}: the notes are kept in a database.", "in a file", "in a database"),
        ],
    ),
    "project{}.toml": (
        _PYPROJECT_TOML,
        [
            ("Bump the version in {} to 1.0.1.", "1.0.0", "1.0.1"),
            ("Add msgspec to the dependencies in {}.", '    "httpx",', '    "httpx",\n    "msgspec",'),
            ("Set the line length in {} to 120.", "line-length = 80", "line-length = 120"),
            ("Update {}: Python 3.11 is the oldest version.", ">=3.9", ">=3.11"),
            ("Change the options of pytest in {} to -q -x.", '"-q"', '"-q -x"'),
        ],
    ),
    "stack{}.go": (
        _STACK_GO,
        [
            ("Pop in {} must return ErrEmpty. Fix it.", "return 0, nil", "return 0, ErrEmpty"),
            (
                "Add a function Clear to {}.",
                "// Len counts",
                "// Clear drops all numbers.\nfunc (s *Stack) Clear() {\n\ts.items = nil\n}\n\n// Len counts",
            ),
            ("Change the error text in {} to 'the stack is empty'.", '"empty"', '"the stack is empty"'),
            ("Change the items in {} to int64.", "items []int", "items []int64"),
            (
                "Update the comment of Stack in {}: it holds whole numbers.",
                "Stack holds numbers",
                "Stack holds whole numbers",
            ),
        ],
    ),
}


@dataclass(frozen=True)
class Task:
    """A request to change a file."""

    path: str
    request: str
    before: str
    after: str

    @property
    def language(self) -> str:
        return self.path.rpartition(".")[2]


def _make_tasks() -> list[Task]:
    tasks: list[Task] = []
    for number in range(5):
        for name, (before, changes) in _CHANGES.items():
            request, old, new = changes[number]
            path = name.format(number)
            assert before.count(old) == 1, (path, old)
            tasks.append(Task(path, request.format(path), before, before.replace(old, new)))
    return tasks


TASKS = _make_tasks()

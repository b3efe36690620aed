"""The four wires as a server sends them: one module each, all with the same three functions.

`text(model, deltas)` and `calls(model, calls)` give a `Stream`; `results(body, start)` counts the tool results
from a place in the request on.
"""

"""The four wires as a server sends them: one module each, all with the same three functions.

`text(model, deltas)` and `call(model, call)` give a `Stream`; `results(body, start)` counts the tool results
from a place in the request on.
"""

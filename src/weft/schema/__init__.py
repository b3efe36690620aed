"""JSON Schema: drafts 2020-12, 2019-09, 7, 6 and 4, for schemas and values that strangers wrote.

    schema = Schema({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
    schema.is_valid({"path": "a.py"})     # True
    schema.problems({"path": 5})          # [Problem(path=("path",), message="5 is not a string")]

A schema is compiled once; a check is quick, bounded in time and depth, and never leaves the document. `format` is an
annotation. A pattern that needs a backtracking engine is not checked.
"""

from weft.schema.faults import SchemaFault
from weft.schema.node import Problem
from weft.schema.schema import Schema

__all__ = ["Problem", "Schema", "SchemaFault"]

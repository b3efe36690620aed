import json

from referee import node

script = """
import { parseQuery } from "./src/query.js";
import { route } from "./src/router.js";
const queries = [
  "?page=2&sort=name", "tag=a&tag=b&x=1&tag=c", "q=red+tea%20pot", "flag&a=", "", "?", "f=a%3Db", "na+me=%2B", "q=%C3%A9",
];
console.log(JSON.stringify([...queries.map((query) => ({ ...parseQuery(query) })), route("/books?tag=a&tag=b"), route("/")]));
"""
assert json.loads(node(script)) == [
    {"page": "2", "sort": "name"},
    {"tag": ["a", "b", "c"], "x": "1"},
    {"q": "red tea pot"},
    {"flag": "", "a": ""},
    {},
    {},
    {"f": "a=b"},
    {"na me": "+"},
    {"q": "\u00e9"},
    {"path": "/books", "query": {"tag": ["a", "b"]}},
    {"path": "/", "query": {}},
], node(script)

from referee import node

script = """
import { importAll } from "./src/import.js";
import { MemoryStore } from "./src/memory.js";
const store = new MemoryStore();
const message = await importAll([{ name: " a ", delay: 60 }, { name: "b", delay: 20 }, { name: "c" }], store);
const first = store.saved.join();
const other = new MemoryStore();
let error = "none";
try { await importAll([{ name: "x" }, { name: " " }, { name: "y" }], other); } catch (e) { error = e.message; }
console.log([message, first, error, other.saved[0], await importAll([], store)].join("|"));
"""
assert node(script) == "imported 3|a,b,c|A record needs a name.|x|imported 0", node(script)

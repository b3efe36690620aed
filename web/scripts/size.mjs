// Prints what the first load weighs, gzipped, and fails above the limit: what index.html names, and what that imports statically.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const LIMIT = 150_000;
const root = new URL("../dist/", import.meta.url);
const html = readFileSync(new URL("index.html", root), "utf8");
const pending = [...html.matchAll(/(?:src|href)="\.?\/(assets\/[^"]+)"/g)].map((found) => found[1]);
const seen = new Map([["index.html", gzipSync(html).length]]);

while (pending.length > 0) {
  const name = pending.pop();
  if (seen.has(name)) continue;
  const text = readFileSync(new URL(name, root));
  seen.set(name, gzipSync(text).length);
  if (!name.endsWith(".js")) continue;
  for (const found of text.toString().matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) pending.push(`assets/${found[1]}`);
}

const total = [...seen.values()].reduce((sum, size) => sum + size, 0);
for (const [name, size] of seen) console.log(`${String(size).padStart(8)}  ${name}`);
console.log(`${String(total).padStart(8)}  first load, gzipped (limit ${LIMIT})`);
if (total > LIMIT) process.exitCode = 1;

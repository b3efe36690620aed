import { readFileSync } from "node:fs";
import { count } from "../src/count.js";
import { usage } from "../src/usage.js";

const [file, option, value] = process.argv.slice(2);
const limit = option === "--limit" ? Number(value) : Infinity;
if (file === undefined) {
  console.error(usage);
  process.exit(2);
}
for (const [word, times] of count(readFileSync(file, "utf8")).slice(0, limit)) {
  console.log(`${times} ${word}`);
}

import { readFileSync } from "node:fs";
import { count } from "../src/count.js";
import { usage } from "../src/usage.js";

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error(usage);
  process.exit(2);
}
for (const [word, times] of count(readFileSync(file, "utf8"))) {
  console.log(`${times} ${word}`);
}

import { readFileSync } from "node:fs";
import { count } from "../src/count.js";
import { usage } from "../src/usage.js";

const words = process.argv.slice(2);
let limit = Infinity;
const place = words.indexOf("--limit");
if (place >= 0) {
  const [, value] = words.splice(place, 2);
  if (!/^[1-9][0-9]*$/.test(value ?? "")) {
    console.error("--limit needs a positive whole number.");
    process.exit(2);
  }
  limit = Number(value);
}
const [file] = words;
if (file === undefined) {
  console.error(usage);
  process.exit(2);
}
for (const [word, times] of count(readFileSync(file, "utf8")).slice(0, limit)) {
  console.log(`${times} ${word}`);
}

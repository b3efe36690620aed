// Runs scripts one after the other, so that the packages that they import are loaded once.
// A line of input is `{"script": …, "arguments": […]}`, a line of output `{"lines": […]}` or `{"error": …}`.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const answer = process.stdout.write.bind(process.stdout);
let fail = () => {};
process.on("unhandledRejection", (error) => fail(error));
process.exit = () => {}; // a script that ends does not end its host

let count = 0;
for await (const order of createInterface({ input: process.stdin })) {
  const { script, arguments: words } = JSON.parse(order);
  const lines = [];
  console.log = (line) => void lines.push(line);
  process.argv = [process.argv[0], script, ...words];
  const failed = new Promise((_, reject) => void (fail = reject));
  try {
    await Promise.race([import(`${pathToFileURL(script)}?run=${(count += 1)}`), failed]);
    answer(`${JSON.stringify({ lines })}\n`);
  } catch (error) {
    answer(`${JSON.stringify({ error: String(error.stack ?? error) })}\n`);
  }
}

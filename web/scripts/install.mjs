// Copies the built page to where the server serves it from.
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const from = fileURLToPath(new URL("../dist/", import.meta.url));
const to = fileURLToPath(new URL("../../packages/server/src/heald_server/page/built/", import.meta.url));

if (!existsSync(from)) throw new Error("There is no web/dist; run `npm run build`.");
rmSync(to, { recursive: true, force: true });
mkdirSync(to, { recursive: true });
cpSync(from, to, { recursive: true });

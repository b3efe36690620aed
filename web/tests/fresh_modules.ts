/** Runs before each file of tests. All files share a process, which is two thirds less work, and here they part: no file
 * sees the modules, the document or the storage of another. */

import { vi } from "vitest";

vi.resetModules();
vi.unstubAllGlobals();
vi.useRealTimers();
if ("document" in globalThis) {
  localStorage.clear();
  sessionStorage.clear();
  document.documentElement.replaceChildren(document.createElement("head"), document.createElement("body"));
  history.replaceState(null, "", "/");
}

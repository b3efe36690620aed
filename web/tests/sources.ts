/** The page's own source files, for tests that read them. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

const ROOT = join(import.meta.dirname, "..", "src");

/** The paths below src/ whose names end with one of the endings. */
export function sourcePaths(...endings: string[]): string[] {
  const paths = readdirSync(ROOT, { recursive: true, encoding: "utf8" });
  return paths.filter((path) => endings.some((ending) => path.endsWith(ending))).sort();
}

export function sourceText(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

export function parsed(path: string): ts.SourceFile {
  return ts.createSourceFile(path, sourceText(path), ts.ScriptTarget.Latest, true, path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
}

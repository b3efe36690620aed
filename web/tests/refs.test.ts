import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "..", "src");

/** The places where a component or a hook writes a ref while it renders: React may render without showing the result. */
function writesWhileRendering(name: string, text: string): string[] {
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.ES2022, true, name.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const places: string[] = [];
  const visit = (node: ts.Node, isRendering: boolean): void => {
    if (isRendering && ts.isBinaryExpression(node) && isAssignment(node) && /\.current$/.test(node.left.getText())) {
      places.push(`${name}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}`);
    }
    const rendersInside = ts.isFunctionLike(node) ? /^(use)?[A-Z]/.test(nameOf(node)) : isRendering;
    ts.forEachChild(node, (child) => visit(child, rendersInside));
  };
  visit(source, false);
  return places;
}

function isAssignment({ operatorToken: { kind } }: ts.BinaryExpression): boolean {
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
}

function nameOf(node: ts.SignatureDeclaration): string {
  return node.name?.getText() ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name.getText() : "");
}

test("no component writes a ref while it renders", () => {
  const names = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
  expect(names.length).toBeGreaterThan(80);
  expect(names.flatMap((name) => writesWhileRendering(name, readFileSync(join(SOURCES, name), "utf8")))).toEqual([]);
});

test("a ref that is written while rendering is noticed, and one that is written in an effect is not", () => {
  const written = "function Box() {\n  const last = useRef(0);\n  last.current = 1;\n  useEffect(() => { last.current = 2; });\n  return null;\n}";
  expect(writesWhileRendering("box.tsx", written)).toEqual(["box.tsx:3"]);
  expect(writesWhileRendering("hook.ts", "function useLast() { const last = useRef(null); return (last.current ??= {}); }")).toEqual(["hook.ts:1"]);
});

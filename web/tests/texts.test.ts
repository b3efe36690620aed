import ts from "typescript";
import { expect, test } from "vitest";
import { parsed, sourcePaths } from "./sources";

/** Attributes and properties that a person reads. */
const READ = new Set(["alt", "aria-description", "aria-label", "aria-valuetext", "data-tip", "hint", "label", "placeholder", "title"]);
/** The name of the program is the same in every language. */
const NAME = "Heald";

/** The texts that a file shows and that are not in src/texts/. */
function strayTexts(path: string): string[] {
  const stray: string[] = [];
  const visit = (node: ts.Node): void => {
    const isRead = ts.isJsxText(node) || (isText(node) && (isChild(node) || READ.has(nameOf(node))));
    if (isRead && hasWord(node)) stray.push(`${path}: ${node.getText().trim()}`);
    ts.forEachChild(node, visit);
  };
  visit(parsed(path));
  return stray;
}

function isText(node: ts.Node): node is ts.StringLiteral | ts.NoSubstitutionTemplateLiteral | ts.TemplateExpression {
  return ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
}

function hasWord(node: ts.Node): boolean {
  const text = ts.isTemplateExpression(node) ? [node.head, ...node.templateSpans.map((span) => span.literal)].map((part) => part.text).join(" ") : (node as ts.StringLiteral | ts.JsxText).text;
  return /[A-Za-z]{2}/.test(text) && text.trim() !== NAME;
}

/** The node that uses the value: a condition chooses it, and is not shown itself. */
function userOf(node: ts.Node): ts.Node | null {
  const { parent } = node;
  if (ts.isParenthesizedExpression(parent)) return userOf(parent);
  if (ts.isConditionalExpression(parent)) return parent.condition === node ? null : userOf(parent);
  if (!ts.isBinaryExpression(parent)) return parent;
  const isChosen = [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.QuestionQuestionToken].includes(parent.operatorToken.kind);
  return isChosen && parent.right === node ? userOf(parent) : null;
}

function isChild(node: ts.Node): boolean {
  const user = userOf(node);
  return user !== null && ts.isJsxExpression(user) && !ts.isJsxAttribute(user.parent);
}

function nameOf(node: ts.Node): string {
  const user = userOf(node);
  const named = user !== null && ts.isJsxExpression(user) ? user.parent : user;
  return named !== null && (ts.isJsxAttribute(named) || ts.isPropertyAssignment(named)) && named.name !== node ? named.name.getText().replaceAll('"', "") : "";
}

test("what a person reads is in src/texts/", () => {
  const paths = sourcePaths(".tsx");
  expect(paths.length).toBeGreaterThan(80);
  expect(paths.flatMap(strayTexts)).toEqual([]);
});

/** Colours code by its words: comments, strings, numbers, keywords and names that are called. Loaded when code is first shown. */

/** The most characters of a block that is coloured. */
const MOST = 60_000;

type Kind = "comment" | "string" | "number" | "keyword" | "call" | "tag" | "attribute" | "added" | "removed";

interface Language {
  /** The parts of a pattern, in the order in which they are tried. */
  rules: readonly (readonly [Kind, string])[];
  keywords: ReadonlySet<string>;
}

const words = (text: string) => new Set(text.split(" "));
const SLASHES = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const HASH = String.raw`#[^\n]*`;
const QUOTED = String.raw`"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?`;
const BACKTICK = String.raw`${"`"}(?:\\[\s\S]|[^${"`"}\\])*${"`"}?`;
const NUMBER = String.raw`\b(?:0[xXbBoO][\da-fA-F_]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)[a-zA-Z%]*`;

const C_WORDS =
  "abstract as async await bool boolean break case catch char class const continue default defer delete do double dyn else enum export extends extern false final finally float fn for from func function go if impl implements import in instanceof int interface is let long loop map match mod module mut namespace new nil null package private protected pub public range readonly return self short signed sizeof static struct super switch template this throw throws trait true try type typedef typeof undefined union unsafe unsigned use using val var virtual void where while with yield";
const PYTHON_WORDS =
  "and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield";
const SHELL_WORDS = "if then else elif fi for while do done case esac in function return export local set unset source cd echo exit sudo true false";
const SQL_WORDS =
  "select from where and or not insert into values update set delete create table index view drop alter add primary key foreign references join left right inner outer full on group by order having limit offset as distinct union all null is in between like exists case when then else end begin commit rollback with returning default unique check cascade asc desc true false";

const C_LIKE: Language = { rules: [["comment", SLASHES], ["string", `${QUOTED}|${BACKTICK}`], ["number", NUMBER]], keywords: words(C_WORDS) };
const PYTHON: Language = {
  rules: [["comment", HASH], ["string", String.raw`[rbfuRBFU]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|${QUOTED})`], ["number", NUMBER]],
  keywords: words(PYTHON_WORDS),
};
const SHELL: Language = { rules: [["comment", String.raw`(?<![\w$])${HASH}`], ["string", QUOTED], ["number", NUMBER]], keywords: words(SHELL_WORDS) };
const SQL: Language = { rules: [["comment", String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`], ["string", QUOTED], ["number", NUMBER]], keywords: words(SQL_WORDS) };
const YAML: Language = { rules: [["comment", String.raw`(?<!\S)${HASH}`], ["attribute", String.raw`[\w.\-/]+(?=\s*[:=](?:\s|$))`], ["string", QUOTED], ["number", NUMBER]], keywords: words("true false null yes no") };
const JSON_LANGUAGE: Language = { rules: [["attribute", String.raw`"(?:\\.|[^"\\\n])*"(?=\s*:)`], ["string", QUOTED], ["number", NUMBER]], keywords: words("true false null") };
const CSS_LANGUAGE: Language = {
  rules: [["comment", String.raw`\/\*[\s\S]*?(?:\*\/|$)`], ["string", QUOTED], ["keyword", String.raw`@[\w-]+|!important`], ["attribute", String.raw`[\w-]+(?=\s*:[^{}]*[;}])`], ["number", String.raw`#[\da-fA-F]{3,8}\b|${NUMBER}`]],
  keywords: new Set(),
};
const MARKUP: Language = {
  rules: [["comment", String.raw`<!--[\s\S]*?(?:-->|$)`], ["tag", String.raw`<\/?[\w:-]+|\/?>`], ["attribute", String.raw`[\w:@.-]+(?==["'{])`], ["string", QUOTED]],
  keywords: new Set(),
};
const DIFF: Language = { rules: [["added", String.raw`^\+[^\n]*`], ["removed", String.raw`^-[^\n]*`], ["comment", String.raw`^@@[^\n]*|^(?:diff|index) [^\n]*`]], keywords: new Set() };

const BY_NAME: readonly (readonly [RegExp, Language])[] = [
  [/^(py|python|py3|pyi|ruby|rb)$/, PYTHON],
  [/^(sh|bash|zsh|shell|console|shellsession|dockerfile|makefile|make|powershell|ps1)$/, SHELL],
  [/^(sql|psql|postgres|postgresql|mysql|sqlite)$/, SQL],
  [/^(ya?ml|toml|ini|conf|env|properties)$/, YAML],
  [/^(json5?|jsonc)$/, JSON_LANGUAGE],
  [/^(css|scss|less)$/, CSS_LANGUAGE],
  [/^(html?|xml|svg|vue|svelte|astro)$/, MARKUP],
  [/^(diff|patch)$/, DIFF],
  [/^(js|javascript|mjs|jsx|ts|typescript|tsx|java|c|h|cpp|c\+\+|cc|cs|csharp|go|golang|rs|rust|swift|kt|kotlin|scala|php|dart|zig)$/, C_LIKE],
];

/** The code as coloured parts; null if the language is not known. */
export function coloured(code: string, language: string): DocumentFragment | null {
  const grammar = BY_NAME.find(([names]) => names.test(language.toLowerCase()))?.[1];
  if (grammar === undefined || code.length > MOST) return null;
  const pattern = new RegExp([...grammar.rules.map(([, rule]) => `(${rule})`), String.raw`([A-Za-z_$][\w$]*)`].join("|"), "gm");
  const fragment = document.createDocumentFragment();
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const at = match.slice(1).findIndex((part) => part !== undefined);
    const kind = grammar.rules[at]?.[0] ?? wordKind(grammar, match[0], code, match.index + match[0].length);
    if (kind === null || match[0] === "") continue;
    fragment.append(code.slice(end, match.index));
    const part = document.createElement("span");
    part.className = `tok-${kind}`;
    part.textContent = match[0];
    fragment.append(part);
    end = match.index + match[0].length;
  }
  fragment.append(code.slice(end));
  return fragment;
}

function wordKind(language: Language, word: string, code: string, end: number): Kind | null {
  if (language.keywords.has(language === SQL ? word.toLowerCase() : word)) return "keyword";
  return code[end] === "(" && language.keywords.size > 0 ? "call" : null;
}

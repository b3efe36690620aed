/**
 * Markdown to HTML that may be shown: raw HTML is text, remote pictures are links, and all of it is sanitised last. LaTeX stays as it
 * was written, marked as math.
 */

import DOMPurify from "dompurify";
import { Marked } from "marked";
import { prose as texts } from "../texts/parts";
import { type Footnotes, withoutFootnotes } from "./footnotes";

/** Math on its own lines, and within a line. A dollar sign is one of math only where it can be no price. */
const MATH_BLOCK = /^(?:\$\$[\s\S]+?\$\$|\\\[[\s\S]+?\\\])[ \t]*(?:\n|$)/;
const MATH = /^(?:\$\$[^\n]+?\$\$|\\\[[^\n]+?\\\]|\\\([\s\S]+?\\\)|\$(?![\s$])(?:\\.|[^$\\\n])+?(?<!\s)\$(?![\d\w]))/;
const NO_MATH = /^\$(?=[^\\^_=+<>|]*\s)[^\\^_=+<>|]*\$$/;

/** The footnotes of the text that is being parsed. */
let footnotes: Footnotes = { texts: new Map(), order: [] };

const marked = new Marked({
  gfm: true,
  breaks: false,
  extensions: [
    {
      name: "mathBlock",
      level: "block",
      start: (source) => source.search(/\$\$|\\\[/),
      tokenizer: (source) => {
        const raw = MATH_BLOCK.exec(source)?.[0];
        return raw === undefined ? undefined : { type: "mathBlock", raw };
      },
      renderer: ({ raw }) => `<div class="math">${escape(raw.trim())}</div>`,
    },
    {
      name: "math",
      level: "inline",
      start: (source) => source.search(/\$|\\[([]/),
      tokenizer: (source) => {
        const raw = MATH.exec(source)?.[0];
        return raw === undefined || NO_MATH.test(raw) ? undefined : { type: "math", raw };
      },
      renderer: ({ raw }) => `<span class="math">${escape(raw)}</span>`,
    },
    {
      name: "footnote",
      level: "inline",
      start: (source) => source.indexOf("[^"),
      tokenizer: (source) => {
        const [raw = "", name = ""] = /^\[\^([^\]\s]+)\]/.exec(source) ?? [];
        return footnotes.texts.has(name) ? { type: "footnote", raw, name } : undefined;
      },
      renderer: (token) => {
        const name = String(token["name"]);
        if (!footnotes.order.includes(name)) footnotes.order.push(name);
        return `<sup><button type="button" class="footnote-ref">${footnotes.order.indexOf(name) + 1}</button></sup>`;
      },
    },
  ],
  renderer: {
    html({ text }) {
      return escape(text);
    },
    image({ href, text, title }) {
      if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(href)) return `<img src="${escape(href)}" alt="${escape(text)}">`;
      const name = text || title || "picture";
      return /^https?:\/\//i.test(href) ? `<a href="${escape(href)}">Picture: ${escape(name)}</a>` : escape(name);
    },
    code({ text, lang }) {
      const name = (lang ?? "").split(/\s/)[0] ?? "";
      const label = name === "" ? "" : `<span class="code-language">${escape(name)}</span>`;
      const bar = `<div class="code-bar">${label}<button type="button" class="code-copy">${texts.copy}</button></div>`;
      return `<div class="code">${bar}<pre tabindex="0"><code>${escape(text)}\n</code></pre></div>`;
    },
  },
});

const ALLOWED_TAGS = [
  ..."a b blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr i img input li ol p pre s span strong sub sup".split(" "),
  ..."table tbody td th thead tr ul".split(" "),
];
const ALLOWED_ATTR = ["href", "src", "alt", "class", "align", "start", "type", "checked", "disabled", "rel", "target", "tabindex"];
const SAFE_LINK = /^(https?:|mailto:|#)/i;

let hooked = false;

function hook(): void {
  if (hooked) return;
  hooked = true;
  DOMPurify.addHook("afterSanitizeAttributes", (node) => {
    if (node.nodeName === "A") {
      if (!SAFE_LINK.test(node.getAttribute("href") ?? "")) node.removeAttribute("href");
      node.setAttribute("rel", "noopener noreferrer");
      node.setAttribute("target", "_blank");
    }
    if (node.nodeName === "IMG" && !/^data:image\/(png|jpeg|gif|webp);/.test(node.getAttribute("src") ?? "")) node.remove();
    if (node.nodeName === "INPUT" && node.getAttribute("type") !== "checkbox") node.remove();
    if (node.nodeName === "INPUT") node.setAttribute("disabled", "");
  });
}

export function toHtml(markdown: string): string {
  hook();
  const { text, notes } = withoutFootnotes(markdown);
  footnotes = notes;
  const html = marked.parse(text, { async: false }) + footnoteList(notes);
  return DOMPurify.sanitize(html, { ALLOWED_TAGS, ALLOWED_ATTR, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false });
}

function footnoteList(notes: Footnotes): string {
  const items: string[] = [];
  for (let at = 0; at < notes.order.length; at += 1) {
    const inner = marked.parseInline(notes.texts.get(notes.order[at] ?? "") ?? "", { async: false }); // may name further ones
    items.push(`<li>${inner} <button type="button" class="footnote-back">↩</button></li>`);
  }
  return items.length === 0 ? "" : `<div class="footnotes"><ol>${items.join("")}</ol></div>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

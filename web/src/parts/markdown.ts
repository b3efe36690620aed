/** Markdown to HTML that may be shown: raw HTML is text, remote pictures are links, and all of it is sanitised last. */

import DOMPurify from "dompurify";
import { Marked } from "marked";

const marked = new Marked({
  gfm: true,
  breaks: false,
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
      const bar = `<div class="code-bar">${label}<button type="button" class="code-copy">Copy</button></div>`;
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
  const html = marked.parse(markdown, { async: false });
  return DOMPurify.sanitize(html, { ALLOWED_TAGS, ALLOWED_ATTR, ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false });
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

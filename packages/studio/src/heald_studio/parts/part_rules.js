// Collects the rules that style an element and all in it, written so that they hold for nothing else.
// Runs in a world of its own. `scope` is a selector that only the element will match, wherever it is put.
(selector, scope) => {
  let root = null;
  try {
    root = document.querySelector(selector);
  } catch {
    root = null;
  }
  if (root === null) return null;
  const inside = [root, ...root.querySelectorAll("*")];
  // The same elements without what is around them: rules that depend on that are written without it.
  const copy = root.cloneNode(true);
  const alone = [copy, ...copy.querySelectorAll("*")];
  const bare = (text) => text.replace(/::[\w-]+(\([^)]*\))?|:(before|after|first-line|first-letter|hover|focus|focus-visible|focus-within|active|visited|checked|disabled)\b/g, "") || "*";
  const matched = (text, elements) => {
    try {
      return elements.map((element, index) => (element.matches(text) ? index : -1)).filter((index) => index >= 0);
    } catch {
      return [];
    }
  };
  const split = (text, separators) => {
    const parts = [""];
    let depth = 0;
    for (const letter of text) {
      if (/[([]/.test(letter)) depth += 1;
      if (/[)\]]/.test(letter)) depth -= 1;
      if (depth === 0 && separators.test(letter)) parts.push("");
      else parts[parts.length - 1] += letter;
    }
    return parts.map((part) => part.trim()).filter(Boolean);
  };
  const written = (text) => {
    const here = matched(bare(text), inside);
    if (here.length === 0) return null;
    const steps = split(text, /[\s>+~]/);
    for (let first = 0; first < steps.length; first += 1) {
      const shorter = first === 0 ? text : text.slice(text.indexOf(steps[first], steps.slice(0, first).join("").length));
      if (matched(bare(shorter), alone).join() === here.join() || first === steps.length - 1) {
        const end = shorter.search(/::[\w-]+(\([^)]*\))?$|:(before|after|first-line|first-letter)$/);
        const at = end < 0 ? shorter.length : end;
        return `${shorter.slice(0, at)}:where(${scope}, ${scope} *)${shorter.slice(at)}`;
      }
    }
    return null;
  };
  const frames = [];
  const faces = [];
  const collect = (rules) => {
    let css = "";
    for (const rule of rules) {
      if (rule instanceof CSSStyleRule) {
        const selectors = split(rule.selectorText, /,/).map(written).filter(Boolean);
        if (selectors.length > 0) css += `${selectors.join(", ")} ${rule.cssText.slice(rule.cssText.indexOf("{"))}\n`;
      } else if (rule instanceof CSSKeyframesRule) frames.push(rule);
      else if (rule instanceof CSSFontFaceRule) faces.push(rule.cssText);
      else if (rule instanceof CSSImportRule) css += rule.styleSheet === null ? "" : collect(rule.styleSheet.cssRules);
      else if (rule.cssRules !== undefined) {
        const inner = collect(rule.cssRules);
        if (inner !== "") css += `${rule.cssText.slice(0, rule.cssText.indexOf("{"))}{\n${inner}}\n`;
      }
    }
    return css;
  };
  const sheets = [];
  for (const sheet of document.styleSheets) {
    let rules;
    try {
      rules = sheet.cssRules;
    } catch {
      continue;
    }
    const owner = sheet.ownerNode;
    if (owner === null || rules.length === 0) continue;
    const css = collect(rules);
    const used = frames.splice(0).filter((rule) => css.includes(rule.name)).map((rule) => rule.cssText);
    const fonts = faces.splice(0);
    if (css !== "") sheets.push({ file: sheet.href === null ? "" : new URL(sheet.href).pathname.slice(1), text: owner.textContent ?? "", css: [...fonts, css, ...used].join("\n") });
  }
  const style = getComputedStyle(root.parentElement ?? root);
  const inherited = ["color", "font-family", "font-size", "font-weight", "line-height", "letter-spacing", "text-align"].map((name) => [name, style.getPropertyValue(name)]);
  const names = new Set([...sheets.map((sheet) => sheet.css).join("\n").matchAll(/var\(\s*(--[\w-]+)/g)].map((match) => match[1]));
  const rootStyle = getComputedStyle(root);
  const variables = [...names].map((name) => [name, rootStyle.getPropertyValue(name).trim()]).filter(([, value]) => value !== "");
  return { tag: root.tagName.toLowerCase(), sheets, inherited, variables };
}

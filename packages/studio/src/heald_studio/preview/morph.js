// Brings a page that is being written up to date in place. What was written before and what is written now are compared, not
// what is shown: nodes that scripts made, what a reader typed and where the reader is stay as they are.
(first, defused) => {
  document.currentScript?.remove();
  const AHEAD = 8; // how many siblings may have been removed between two that are the same
  const live = new WeakMap(); // the node of the page that a node of the source became
  const parse = (text) => new DOMParser().parseFromString(withoutOpenScript(text), "text/html");
  // A script that is not complete must not run. Everything else that is not closed yet is shown as far as it is there.
  const withoutOpenScript = (text) => {
    const start = text.search(/<script\b(?![\s\S]*<\/script)[\s\S]*$/i);
    return start < 0 ? text : text.slice(0, start);
  };

  const isSame = (before, after) => {
    if (before.nodeType !== after.nodeType || before.nodeName !== after.nodeName) return false;
    if (after.nodeType !== Node.ELEMENT_NODE) return true;
    return after.nodeName === "SCRIPT" ? before.isEqualNode(after) : before.id === after.id;
  };
  const findSame = (nodes, from, node) => {
    for (let at = from; at < Math.min(nodes.length, from + AHEAD); at += 1) if (isSame(nodes[at], node)) return at;
    return -1;
  };

  // Scripts may have changed the page already: what they removed has no partner, and what they added is left alone.
  const pair = (source, target) => {
    live.set(source, target);
    const targets = [...target.childNodes];
    let at = 0;
    for (const child of source.childNodes) {
      const match = findSame(targets, at, child);
      if (match < 0) continue;
      pair(child, targets[match]);
      at = match + 1;
    }
  };

  let running = Promise.resolve();
  const run = (inert) => {
    const script = document.createElement("script");
    for (const { name, value } of inert.attributes) script.setAttribute(name, value);
    script.text = inert.text;
    script.async = false;
    // One after the other, as if the page was read from its beginning.
    running = running.then(
      () =>
        new Promise((done) => {
          if (!inert.isConnected) return done();
          const waits = script.hasAttribute("src") && !script.hasAttribute("async");
          if (waits) script.onload = script.onerror = () => done();
          inert.replaceWith(script);
          if (!waits) done();
        }),
    );
  };
  const insert = (source, parent, previous) => {
    const copy = document.importNode(source, true);
    const next = previous?.parentNode === parent ? previous.nextSibling : previous === null ? parent.firstChild : null;
    parent.insertBefore(copy, next);
    pairCopy(source, copy);
    if (copy.nodeName === "SCRIPT") run(copy);
    else copy.querySelectorAll?.("script").forEach(run);
    return copy;
  };
  const pairCopy = (source, copy) => {
    live.set(source, copy);
    source.childNodes.forEach((child, at) => pairCopy(child, copy.childNodes[at]));
  };

  const patchAttributes = (before, after, target) => {
    for (const { name, value } of after.attributes) if (before.getAttribute(name) !== value) target.setAttribute(name, value);
    for (const { name } of before.attributes) if (!after.hasAttribute(name)) target.removeAttribute(name);
  };

  // `isOpen`: more of it may follow. Until it does, what stood there before stays, so that a page that is written anew keeps its height.
  const patch = (before, after, isOpen) => {
    const target = live.get(before);
    if (target === undefined) return;
    live.set(after, target);
    if (after.nodeType !== Node.ELEMENT_NODE && after.nodeType !== Node.DOCUMENT_NODE) {
      if (before.nodeValue !== after.nodeValue) target.nodeValue = after.nodeValue;
      return;
    }
    if (after.nodeType === Node.ELEMENT_NODE) patchAttributes(before, after, target);
    const old = [...before.childNodes];
    const children = [...after.childNodes];
    let at = 0;
    let previous = null;
    children.forEach((child, number) => {
      const isLast = number === children.length - 1;
      const match = findSame(old, at, child);
      if (match < 0) {
        previous = insert(child, target, previous);
        return;
      }
      for (const gone of old.slice(at, match)) live.get(gone)?.remove?.();
      patch(old[match], child, isOpen && isLast);
      previous = live.get(child) ?? previous;
      at = match + 1;
    });
    for (const rest of old.slice(at)) {
      if (isOpen) after.append(rest);
      else live.get(rest)?.remove?.();
    }
  };

  let source = parse(first);
  let isPaired = false;
  addEventListener("DOMContentLoaded", () => {
    for (const name of ["write", "writeln"]) document[name] = () => undefined; // from now on they would replace the page
  });
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data || event.data.heald !== "draft") return;
    const received = performance.now();
    if (!isPaired) pair(source, document);
    isPaired = true;
    const next = parse(defused(event.data.html));
    patch(source, next, true);
    source = next;
    const patching = performance.now() - received;
    requestAnimationFrame(() => {
      const painted = performance.now();
      setTimeout(() => parent.postMessage({ heald: "drafted", work: patching + performance.now() - painted }, "*"));
    });
  });
}

(bridge, morph) => {
  // Frames and refreshes are forbidden here, and Chromium would connect to their hosts before it says so.
  const defused = (html) =>
    String(html)
      .replace(/<(\/?)(?=i?frame\b)/gi, "<$1x-")
      .replace(/http-equiv(?=\s*=\s*["']?\s*refresh)/gi, "data-http-equiv");
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data || event.data.heald !== "draft") return;
    const text = defused(event.data.html);
    const start = /^\s*<!doctype[^>]*>/i.exec(text);
    const at = start ? start[0].length : 0;
    const first = JSON.stringify(text).replace(/</g, "\\u003c");
    // The response's policy and sandbox stay in force; what listens here does not. What follows is shown in place.
    document.open();
    document.write(`${text.slice(0, at)}<script>${bridge}<${"/"}script><script>(${morph})(${first}, ${defused})<${"/"}script>${text.slice(at)}`);
    document.close();
  });
  parent.postMessage({ heald: "empty" }, "*");
}

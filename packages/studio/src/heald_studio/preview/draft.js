(bridge) => {
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data || event.data.heald !== "draft") return;
    // Frames and refreshes are forbidden here, and Chromium would connect to their hosts before it says so.
    const text = String(event.data.html)
      .replace(/<(\/?)(?=i?frame\b)/gi, "<$1x-")
      .replace(/http-equiv(?=\s*=\s*["']?\s*refresh)/gi, "data-http-equiv");
    const start = /^\s*<!doctype[^>]*>/i.exec(text);
    const at = start ? start[0].length : 0;
    // The response's policy and sandbox stay in force; what listens here does not.
    document.open();
    document.write(`${text.slice(0, at)}<script>${bridge}<${"/"}script>${text.slice(at)}`);
    document.close();
  });
  parent.postMessage({ heald: "empty" }, "*");
}

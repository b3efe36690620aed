(bridge) => {
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data || event.data.heald !== "draft") return;
    const text = String(event.data.html);
    const found = /<head\b[^>]*>/i.exec(text) ?? /<html\b[^>]*>|<!doctype[^>]*>/i.exec(text);
    const at = found ? found.index + found[0].length : 0;
    // The response's policy and sandbox stay in force; what listens here does not.
    document.open();
    document.write(`${text.slice(0, at)}<script>${bridge}<${"/"}script>${text.slice(at)}`);
    document.close();
  });
  parent.postMessage({ heald: "empty" }, "*");
}

// Tells the page around the preview of a dev server what happens in it: the console, scripts, requests and policies.
(() => {
  document.currentScript?.remove(); // a framework that takes the whole document over finds it as the server wrote it
  if (parent === window) return;
  const LIMIT = 500;
  const counts = {};
  const say = (kind, data) => parent.postMessage({ heald: kind, ...data }, "*");
  const short = (value) => {
    try {
      const text = typeof value === "string" ? value : value instanceof Error ? `${value.name}: ${value.message}` : JSON.stringify(value);
      return (text ?? String(value)).slice(0, 2000);
    } catch {
      return String(value).slice(0, 2000);
    }
  };
  const isWithin = (kind) => (counts[kind] = (counts[kind] ?? 0) + 1) <= LIMIT;
  const report = (kind, level, text) => {
    if (isWithin(level === "error" ? "error" : kind)) say("report", { kind, level, text: short(text).slice(0, 4000) });
  };
  for (const level of ["error", "warn", "info", "log"]) {
    const plain = console[level].bind(console);
    console[level] = (...values) => {
      report("console", level, values.map(short).join(" "));
      plain(...values);
    };
  }
  addEventListener(
    "error",
    (event) => {
      const element = event.target;
      if (element && element !== window) report("network", "error", `could not load ${element.src || element.href || element.tagName}`);
      else report("console", "error", event.message);
    },
    true,
  );
  addEventListener("unhandledrejection", (event) => report("console", "error", event.reason));
  addEventListener("securitypolicyviolation", (event) => {
    const host = URL.canParse(event.blockedURI) ? new URL(event.blockedURI).hostname : "";
    if (isWithin("error")) say("blocked", { host, text: `${event.blockedURI || "inline code"} is not allowed (${event.effectiveDirective})` });
  });
  const watcher = new PerformanceObserver((list) => {
    for (const { name, initiatorType, responseStatus, duration } of list.getEntries()) {
      if (responseStatus === 0 || responseStatus >= 400) continue; // hidden from this page, or reported where it failed
      const where = name.startsWith(`${location.origin}/`) ? name.slice(location.origin.length) : name;
      report("network", "info", `${responseStatus} ${where} · ${initiatorType}, ${Math.round(duration)} ms`);
    }
  });
  watcher.observe({ type: "resource", buffered: true });
  const plainFetch = window.fetch.bind(window);
  window.fetch = async (...request) => {
    const where = request[0] instanceof Request ? request[0].url : String(request[0]);
    try {
      const answer = await plainFetch(...request);
      if (!answer.ok) report("network", "error", `${answer.status} ${where}`);
      return answer;
    } catch (fault) {
      if (fault?.name !== "AbortError") report("network", "error", `could not load ${where}`);
      throw fault;
    }
  };
  const open = XMLHttpRequest.prototype.open;
  XMLHttpRequest.prototype.open = function (method, address, ...rest) {
    this.addEventListener("loadend", () => {
      if (this.status === 0 || this.status >= 400) report("network", "error", `${this.status || "could not load"} ${address}`);
    });
    return open.call(this, method, address, ...rest);
  };
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCIceTransport"]) delete window[name]; // no policy covers these
  const tellPage = () => say("page", { path: location.pathname + location.search + location.hash });
  for (const name of ["pushState", "replaceState"]) {
    const plain = history[name].bind(history);
    history[name] = (...values) => {
      plain(...values);
      tellPage();
    };
  }
  addEventListener("popstate", tellPage);
  addEventListener("hashchange", tellPage);
  say("loading", {});
  addEventListener("DOMContentLoaded", tellPage);
})();

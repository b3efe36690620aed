// Makes two visits of a page comparable: the clock starts at the same time, and chance repeats itself. With `provoked`
// timers run at once, the clock is years ahead, and everything that listens is called when the check asks for it.
((provoked) => {
  const start = provoked ? Date.UTC(2041, 10, 20, 3, 30) : Date.UTC(2026, 5, 15, 12);
  const now = () => start + Math.floor(performance.now());
  const Real = Date;
  globalThis.Date = new Proxy(Real, {
    construct: (target, values, made) => Reflect.construct(target, values.length ? values : [now()], made),
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  let seed = 20260615;
  let turn = 0;
  Math.random = () => {
    if (provoked) return turn++ % 2 ? 0.9995 : 0.0005;
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  if (!provoked) return;
  const later = setTimeout;
  let rounds = 0;
  globalThis.setTimeout = (work, ms, ...values) => later(work, rounds++ < 500 ? Math.min(Number(ms) || 0, 20) : ms, ...values);
  const repeat = setInterval;
  globalThis.setInterval = (work, ms, ...values) => repeat(work, Math.max(10, Math.min(Number(ms) || 0, 20)), ...values);
  globalThis.requestIdleCallback = (work) => later(() => work({ didTimeout: true, timeRemaining: () => 50 }), 1);
  const listeners = [];
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    if (listener && listeners.length < 2000) listeners.push([this ?? globalThis, String(type), listener]);
    return listen.call(this ?? globalThis, type, listener, options);
  };
  const byPerson = /^(click|dblclick|auxclick|contextmenu|mouse(down|up)|pointer(down|up)|touch|key|input|change|submit|reset|beforeinput|paste|copy|cut|drag|drop|select|toggle|popstate|hashchange)/;
  const never = /^(DOMContentLoaded|load|readystatechange|error|unhandledrejection|heald-.*)$/;
  const types = ["scroll", "resize", "mousemove", "mouseover", "mouseenter", "mouseout", "pointermove", "pointerover", "focus", "focusin", "blur", "wheel", "visibilitychange", "online", "offline", "pageshow", "pagehide", "beforeprint", "orientationchange", "click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "keydown", "keyup", "keypress", "input", "change"];
  const fire = (active) => {
    const call = (target, type, listener) => {
      const made = new Event(type, { bubbles: true, cancelable: true });
      const node = target.nodeType === 1 ? target : document.body;
      const event = new Proxy(made, {
        get: (event, name) => {
          if (name === "isTrusted") return true;
          if (name === "target" || name === "currentTarget" || name === "srcElement") return node;
          if (name in event) {
            const value = Reflect.get(event, name, event);
            return typeof value === "function" ? value.bind(event) : value;
          }
          return /^(client|page|screen|offset|movement|delta)/.test(String(name)) ? 5 : name === "key" ? "a" : undefined;
        },
      });
      try {
        if (typeof listener === "function") listener.call(target, event);
        else listener.handleEvent?.(event);
      } catch {
        return;
      }
    };
    for (const [target, type, listener] of [...listeners]) {
      if (!never.test(type) && byPerson.test(type) === active) call(target, type, listener);
    }
    const holders = [globalThis, document, ...document.querySelectorAll("*")];
    for (const type of types.filter((type) => byPerson.test(type) === active)) {
      for (const holder of holders) if (typeof holder[`on${type}`] === "function") call(holder, type, holder[`on${type}`]);
    }
  };
  listen.call(document, "heald-passive", () => fire(false));
  listen.call(document, "heald-active", () => fire(true));
})

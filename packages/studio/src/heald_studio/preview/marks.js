// Marks each element that a script makes with its place in the source, so that an edit of it finds the code.
// Elements of the page itself are remembered with their place when the page is parsed, before scripts move them.
(() => {
  const base = (/^.*?\/preview\/[^/]+\//.exec(location.pathname) ?? ["/"])[0];
  const page = decodeURIComponent(location.pathname.slice(base.length)) || "index.html";
  const parsed = new WeakMap();
  const templates = [];
  const placeOf = (element) => {
    const parts = [];
    for (let here = element; here && here !== document.documentElement; here = here.parentElement) {
      const alike = [...(here.parentElement?.children ?? [here])].filter((sibling) => sibling.tagName === here.tagName);
      const name = here.tagName.toLowerCase();
      parts.unshift(name === "body" ? name : `${name}:nth-of-type(${alike.indexOf(here) + 1})`);
    }
    return `@${parts.join(" > ")}`;
  };
  const rememberPage = () => {
    if (document.readyState !== "interactive") return;
    for (const element of [...(document.body?.querySelectorAll("*") ?? []), document.body]) if (element) parsed.set(element, placeOf(element));
    markBabel();
  };
  document.addEventListener("readystatechange", rememberPage);

  // Babel compiles the scripts of a page when it is parsed: a plugin writes the place into each element.
  const places = (file) => ({ types: t }) => ({
    visitor: {
      JSXOpeningElement({ node }) {
        if (node.name.type !== "JSXIdentifier" || !/^[a-z]/.test(node.name.name) || !node.loc) return;
        const place = t.stringLiteral(`${file}:${node.loc.start.line}:${node.loc.start.column}`);
        node.attributes.unshift(t.jsxAttribute(t.jsxIdentifier("data-heald-source"), place));
      },
    },
  });
  const markBabel = () => {
    const { Babel } = window;
    if (typeof Babel?.registerPlugin !== "function") return;
    let inline = 0;
    [...document.querySelectorAll('script[type="text/babel"], script[type="text/jsx"]')].forEach((script, at) => {
      const path = script.hasAttribute("src") ? URL.parse?.(script.src)?.pathname ?? "" : "";
      const file = script.hasAttribute("src") ? decodeURIComponent(path.slice(base.length)) : `${page}#${inline++}`;
      Babel.registerPlugin(`heald-places-${at}`, places(file));
      const plugins = script.getAttribute("data-plugins") ?? "transform-class-properties,transform-object-rest-spread,transform-flow-strip-types";
      script.setAttribute("data-plugins", [plugins, `heald-places-${at}`].filter(Boolean).join(","));
    });
  };

  // Vue keeps attributes of a template: those in the page are marked before it is mounted, others when they are compiled.
  const markTemplate = (node, context) => {
    if (node.type !== 1 || node.tagType !== 0 || node.props.some((prop) => prop.name === "data-heald-source")) return;
    const text = context.root?.source ?? "";
    if (!templates.includes(text)) templates.push(text);
    const content = `~${node.loc.start.offset}@${templates.indexOf(text)}`;
    node.props.push({ type: 6, name: "data-heald-source", nameLoc: node.loc, value: { type: 2, content, loc: node.loc }, loc: node.loc });
  };
  const wrapped = (vue) => {
    const createApp = vue?.createApp;
    if (typeof createApp !== "function") return vue;
    vue.createApp = (root, ...props) => {
      const app = createApp(root, ...props);
      if (app.config?.compilerOptions) app.config.compilerOptions.nodeTransforms = [markTemplate];
      const { mount } = app;
      app.mount = (target, ...others) => {
        const container = typeof target === "string" ? document.querySelector(target) : target;
        if (container && !root?.template && !root?.render) for (const element of container.querySelectorAll("*")) element.setAttribute("data-heald-source", placeOf(element));
        return mount(target, ...others);
      };
      return app;
    };
    return vue;
  };
  let vue;
  Object.defineProperty(window, "Vue", {
    configurable: true,
    get: () => vue,
    set(value) {
      vue = wrapped(value);
    },
  });

  // The place of an element as the server reads it: `source`, and the template that it counts in.
  window.healdMarks = (element) => {
    const mark = element.getAttribute("data-heald-source") ?? element.getAttribute("data-v-inspector") ?? parsed.get(element) ?? "!";
    const inTemplate = /^(~\d+)@(\d+)$/.exec(mark);
    return inTemplate === null ? { source: mark, template: "" } : { source: inTemplate[1], template: templates[Number(inTemplate[2])] ?? "" };
  };
})();

// Compiles the components of an Astro project with Astro's own compiler, and renders a page as a build would.
(window.healdFrameworks ??= []).push(({ project, style, wrapped, rooted, runScript, run }) => {
  const compiled = new Map();
  const booleans = /^(?:allowfullscreen|async|autofocus|autoplay|checked|controls|default|defer|disabled|formnovalidate|hidden|inert|loop|muted|multiple|nomodule|novalidate|open|playsinline|readonly|required|reversed|selected)$/i;
  const metadata = /^(?:import \* as \$\$module\d+ from .*$|export const \$\$metadata = \$\$createMetadata\([^]*?(?=\n\nconst \$\$))/gm;

  class Markup {
    constructor(text) {
      this.text = text;
    }
  }

  class Template {
    constructor(strings, values) {
      this.strings = strings;
      this.values = values;
    }
  }

  const Fragment = Symbol("Fragment");
  const escaped = (text) => String(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const quoted = (text) => String(text).replaceAll("&", "&#38;").replaceAll('"', "&#34;");

  async function write(value) {
    const ready = await value;
    if (ready === null || ready === undefined || ready === false || ready === "") return "";
    if (ready instanceof Markup) return ready.text;
    if (ready instanceof Template) {
      const texts = [];
      for (const [at, text] of ready.strings.entries()) texts.push(text, at < ready.values.length ? await write(ready.values[at]) : "");
      return texts.join("");
    }
    if (typeof ready === "function") return write(ready());
    if (typeof ready === "object" && Symbol.iterator in ready) {
      const texts = [];
      for (const child of ready) texts.push(await write(child));
      return texts.join("");
    }
    return escaped(ready);
  }

  function classNames(value) {
    if (Array.isArray(value) || value instanceof Set) return [...value].map(classNames).filter(Boolean).join(" ");
    if (value !== null && typeof value === "object") return Object.keys(value).filter((name) => value[name]).join(" ");
    return value ? String(value) : "";
  }

  function styles(value) {
    if (Array.isArray(value)) return value.map(styles).filter(Boolean).join(";");
    if (value === null || typeof value !== "object") return value;
    const property = (name) => (name.startsWith("--") ? name : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`));
    return Object.entries(value).filter(([, setting]) => setting || setting === 0).map(([name, setting]) => `${property(name)}:${setting}`).join(";");
  }

  function attribute(value, name) {
    if (value === null || value === undefined) return "";
    if (booleans.test(name)) return value ? ` ${name}` : "";
    if (name === "class:list") return classNames(value) ? ` class="${quoted(classNames(value))}"` : "";
    if (name === "className") return ` class="${quoted(value)}"`;
    const text = name === "style" ? styles(value) : value;
    if (text === "" || (text === true && !/^(?:data|aria)-/.test(name))) return ` ${name}`;
    return text === false && name === "style" ? "" : ` ${name}="${quoted(text)}"`;
  }

  function spread(values) {
    const names = Object.keys(values ?? {}).filter((name) => name !== "slot" && !/^(?:client|server|set):/.test(name));
    return names.map((name) => attribute(values[name], name)).join("");
  }

  const unescaped = (value) => (value instanceof Promise ? value.then(unescaped) : new Markup(value === null || value === undefined ? "" : String(value)));

  const runtime = {
    __esModule: true,
    Fragment,
    render: (strings, ...values) => new Template(strings, values),
    createAstro: () => ({}),
    createComponent: (body) => Object.assign((...inputs) => body(...inputs), { isAstro: true }),
    renderComponent(result, name, component, props, slots = {}) {
      if (component === Fragment) return slots.default?.(result);
      if (typeof component === "string") {
        return new Template([`<${component}`, ">", `</${component}>`], [new Markup(spread(props)), slots.default?.(result)]);
      }
      if (component?.isAstro) return component(result, props, slots);
      if (component === undefined) throw new Error(`<${name}> is not imported, or its file has no component.`);
      throw new Error(`<${name}> is not a component of Astro; previews render .astro files alone.`);
    },
    renderHead: () => "",
    maybeRenderHead: () => "",
    unescapeHTML: unescaped,
    renderSlot: (result, slot, fallback) => (slot ? slot(result) : fallback),
    mergeSlots: (...slots) => Object.assign({}, ...slots.filter((slot) => slot && typeof slot === "object"), ...slots.filter((slot) => typeof slot === "function").map((slot) => slot())),
    addAttribute: (value, name) => new Markup(attribute(value, name)),
    spreadAttributes: (values, _, more) => new Markup(spread(more?.class ? { ...values, class: `${values.class ?? ""} ${more.class}`.trim() } : values)),
    defineStyleVars: (all) => (Array.isArray(all) ? all : [all]).flatMap((variables) => Object.entries(variables)).map(([name, value]) => `--${name}: ${value};`).join(""),
    defineScriptVars: (values) => new Markup(Object.entries(values).map(([name, value]) => `const ${name} = ${JSON.stringify(value)?.replaceAll("<", "\\u003c")};\n`).join("")),
    renderTransition: () => "",
    createTransitionScope: () => "",
    createMetadata: () => ({}),
    renderScript(result, name) {
      result.scripts.add(name);
      return "";
    },
  };

  const component = (body) => runtime.createComponent((_, props, slots) => body(props, slots));
  const modules = {
    "heald:astro": runtime,
    "astro:assets": {
      __esModule: true,
      Image: component(({ src, format, quality, densities, widths, inferSize, ...props }) => new Template(["<img", ">"], [new Markup(spread({ src: src?.src ?? src, ...props }))])),
    },
    "astro:transitions": { __esModule: true, ClientRouter: component(() => "") },
  };

  function createResult() {
    const url = new URL(`/${project.route}`, "https://project.heald.invalid/");
    const result = { scripts: new Set() };
    result.createAstro = (_, props, slots) => ({
      props,
      url,
      params: {},
      site: undefined,
      generator: "Astro",
      request: new Request(url),
      redirect: (path) => {
        throw new Error(`The page redirects to ${path}, which previews do not follow.`);
      },
      slots: { has: (name) => name in slots, render: async (name) => unescaped(await write(slots[name]?.(result))) },
    });
    return result;
  }

  async function startCompiler() {
    const { wasm, start } = window.healdAstro;
    const packed = Uint8Array.from(atob(wasm), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const bytes = await new Response(stream).arrayBuffer();
    const module = { exports: {} };
    // The compiler fetches its program: it gets the bytes that the script holds.
    start(module, module.exports, async () => new Response(bytes, { headers: { "Content-Type": "application/wasm" } }));
    await module.exports.initialize({ wasmURL: "astro.wasm" });
    return module.exports;
  }

  // Says at an element where in the project it is written. The compiler says where its start tag is read, not begun.
  function mark(element) {
    const path = element.getAttribute("data-astro-source-file").slice(1);
    const [line, column] = element.getAttribute("data-astro-source-loc").split(":").map(Number);
    element.removeAttribute("data-astro-source-file");
    element.removeAttribute("data-astro-source-loc");
    const lines = (project.files[path] ?? "").split("\n");
    const read = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
    const start = lines.join("\n").lastIndexOf(`<${element.localName}`, read);
    if (start < 0) return;
    const before = lines.join("\n").slice(0, start).split("\n");
    element.setAttribute("data-heald-source", `${path}:${before.length}:${before.at(-1).length}`);
  }

  async function compileFile(compiler, path, source) {
    const options = {
      filename: `/${path}`,
      normalizedFilename: `/${path}`,
      internalURL: "heald:astro",
      resultScopedSlot: true,
      renderScript: true,
      scopedStyleStrategy: "where",
      annotateSourceFile: true,
    };
    const made = await compiler.transform(source, options);
    const wrong = made.diagnostics.find(({ severity }) => severity === 1);
    if (wrong) throw new Error(`${path}:${wrong.location.line}:${wrong.location.column}: ${wrong.text}`);
    compiled.set(path, { ...made, code: made.code.replace(metadata, "") });
  }

  // Puts a rendered document in the place of this one. Scripts run once they are new elements.
  function show(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    for (const element of page.querySelectorAll("[data-astro-source-loc]")) mark(element);
    for (const element of page.querySelectorAll("[href], [src], [poster]")) {
      for (const name of ["href", "src", "poster"]) if (element.hasAttribute(name)) element.setAttribute(name, address(element.getAttribute(name), element));
    }
    const scripts = page.querySelectorAll("script");
    for (const [here, there] of [[document.documentElement, page.documentElement], [document.body, page.body]]) {
      for (const { name, value } of there.attributes) here.setAttribute(name, value);
    }
    if (page.head.querySelector("title")) document.head.querySelector("title")?.remove();
    document.head.append(...page.head.childNodes);
    document.body.replaceChildren(...page.body.childNodes);
    for (const old of scripts) {
      const script = document.createElement("script");
      for (const { name, value } of old.attributes) script.setAttribute(name, value);
      script.textContent = old.textContent;
      old.replaceWith(script);
    }
  }

  function address(text, element) {
    if (location.protocol !== "file:" || element.localName !== "a" || !/^\/(?!\/)/.test(text)) return rooted(text);
    const [target, rest = ""] = text.slice(1).split(/(?=[?#])/);
    return `${"../".repeat(project.route.split("/").length - 1)}${target.replace(/\/$/, "") || "index"}.html${rest}`;
  }

  return {
    packages: ["astro:assets", "astro:transitions"],
    async prepare() {
      const compiler = await startCompiler();
      for (const [path, source] of Object.entries(project.files)) if (path.endsWith(".astro")) await compileFile(compiler, path, source);
    },
    package(name) {
      const [path, query = ""] = name.split("?");
      const index = /^astro&type=style&index=(\d+)/.exec(query)?.[1];
      if (index === undefined) return modules[name] ?? null;
      style(compiled.get(path.slice(1)).css[Number(index)] ?? "", path.slice(1));
      return wrapped("");
    },
    compile: (path) => compiled.get(path)?.code ?? null,
    asset: (place) => ({ src: place, width: undefined, height: undefined, format: "" }),
    async render(file) {
      const result = createResult();
      show(await write(run(file).default(result, {}, {})));
      for (const name of result.scripts) {
        const [path, query] = name.slice(1).split("?");
        const script = compiled.get(path).scripts[Number(/index=(\d+)/.exec(query)[1])];
        if (script.type === "inline") runScript(path, script.code, { exports: {} });
        else run(new URL(script.src, `https://project.heald.invalid/${path}`).pathname.slice(1));
      }
    },
  };
});

// Runs the modules of a project in the page, without a build: each file is transformed when it is first imported.
// The element `heald-files` holds the text of every module and style sheet, and the address of every other file.
// A framework adds itself to `healdFrameworks`: it may compile files, offer packages, and render a page.
(() => {
  "use strict";
  const project = JSON.parse(document.getElementById("heald-files").textContent);
  const { files, texts, addresses, entries, packages, base, root } = project;
  const packaged = window.healdPackages || {};
  const loaded = new Map();
  const tailwind = /@(?:import\s+["']tailwindcss|(?:tailwind|theme|apply|utility|reference|custom-variant)\b)/;
  const endings = ["", ".jsx", ".tsx", ".js", ".ts", ".mjs", ".svelte.js", ".svelte.ts", ".json", ".css"];
  const loader = { project, style, has, joined, run, runScript, wrapped, rooted, runPackage, fail };
  const frameworks = (window.healdFrameworks || []).map((framework) => framework(loader));

  function has(path) {
    return Object.hasOwn(files, path) || Object.hasOwn(addresses, path);
  }

  function joined(folder, path) {
    const names = [];
    for (const name of `${folder}/${path}`.split("/")) {
      if (name === "..") names.pop();
      else if (name && name !== ".") names.push(name);
    }
    return names.join("/");
  }

  function resolve(specifier, importer) {
    const folder = importer.slice(0, Math.max(importer.lastIndexOf("/"), 0));
    let path = null;
    if (specifier.startsWith(".")) path = joined(folder, specifier);
    else if (specifier.startsWith("/")) path = joined("", specifier);
    else if (specifier.startsWith("@/")) path = joined(root, specifier.slice(2));
    if (path === null) return null;
    const starts = specifier.startsWith("/") ? [path, `public/${path}`] : [path];
    for (const start of starts) {
      for (const ending of endings) if (has(start + ending)) return start + ending;
      for (const ending of endings.slice(1)) if (has(`${start}/index${ending}`)) return `${start}/index${ending}`;
      const typed = start.replace(/\.js(x?)$/, ".ts$1");
      if (typed !== start && has(typed)) return typed;
    }
    throw new Error(`${importer} imports "${specifier}", which is not a file of the project.`);
  }

  function requireFrom(importer) {
    return (specifier) => {
      const [bare, query] = specifier.split("?");
      for (const framework of frameworks) {
        const exports = framework.package?.(specifier);
        if (exports) return exports;
      }
      const path = resolve(bare, importer);
      if (path !== null && query === "raw") return wrapped(files[path] ?? texts[path] ?? "");
      if (path !== null && query === "url") return wrapped(address(path));
      if (path !== null) return run(path);
      if (Object.hasOwn(packaged, bare)) return runPackage(bare);
      const offered = frameworks.flatMap((framework) => framework.packages ?? []);
      const names = [...packages, ...offered].join(", ");
      throw new Error(`${importer} imports the package "${specifier}", which previews do not have; they have ${names}.`);
    };
  }

  function wrapped(value) {
    return { __esModule: true, default: value };
  }

  function address(path) {
    return addresses[path] ?? `data:text/plain;charset=utf-8,${encodeURIComponent(files[path])}`;
  }

  function runPackage(name) {
    const key = `package:${name}`;
    if (!loaded.has(key)) {
      const module = { exports: {} };
      loaded.set(key, module);
      packaged[name](module, module.exports, requireFrom(name));
      if (name === "react/jsx-runtime" && base !== "/") rootElements(module.exports);
    }
    return loaded.get(key).exports;
  }

  // An address that begins with a slash is one of the project, which may lie below another path.
  function rooted(address) {
    return typeof address === "string" && /^\/(?!\/)/.test(address) && !address.startsWith(base) ? base + address.slice(1) : address;
  }

  function rootElements(runtime) {
    for (const name of ["jsx", "jsxs"]) {
      const make = runtime[name];
      runtime[name] = (type, props, key) => {
        if (typeof type !== "string") return make(type, props, key);
        const changes = {};
        for (const attribute of ["href", "src", "poster"]) if (rooted(props[attribute]) !== props[attribute]) changes[attribute] = rooted(props[attribute]);
        return make(type, Object.keys(changes).length ? { ...props, ...changes } : props, key);
      };
    }
  }

  function run(path) {
    if (loaded.has(path)) return loaded.get(path).exports;
    const module = { exports: {} };
    loaded.set(path, module);
    const source = files[path];
    const compiled = source === undefined ? null : compile(path, source);
    if (source === undefined) module.exports = wrapped(asset(path));
    else if (compiled !== null) runScript(path, compiled, module);
    else if (/\.module\.css$/.test(path)) module.exports = wrapped(styleModule(path));
    else if (/\.css$/.test(path)) style(sheet(path), path);
    else if (/\.json$/.test(path)) module.exports = { ...asObject(JSON.parse(source)), ...wrapped(JSON.parse(source)) };
    else if (/\.(jsx?|tsx?|mjs)$/.test(path)) runScript(path, source, module);
    else module.exports = wrapped(address(path));
    return module.exports;
  }

  function compile(path, source) {
    for (const framework of frameworks) {
      const code = framework.compile?.(path, source) ?? null;
      if (code !== null) return code;
    }
    return null;
  }

  function asset(path) {
    for (const framework of frameworks) if (framework.asset) return framework.asset(addresses[path]);
    return addresses[path];
  }

  function asObject(value) {
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
  }

  function runScript(path, source, module) {
    const typed = /\.(tsx?|astro)$/.test(path);
    const options = {
      filename: path.replace(/\.astro$/, ".astro.ts"),
      sourceType: "module",
      presets: [["react", { runtime: "automatic" }], ...(typed ? [["typescript", {}]] : [])],
      plugins: [places(path), "transform-dynamic-import", "transform-modules-commonjs"],
      sourceMaps: false,
    };
    const { code } = Babel.transform(source, options);
    const env = { MODE: "production", DEV: false, PROD: true, SSR: false, BASE_URL: "/" };
    const meta = { url: `https://project.heald.invalid/${path}`, env };
    const body = new Function("module", "exports", "require", "__healdMeta", `${code}\n//# sourceURL=${path}`);
    body(module, module.exports, requireFrom(path), meta);
  }

  // Says at each element of the page where in the project it is written, and gives `import.meta` its values.
  function places(path) {
    return ({ types: t }) => ({
      visitor: {
        JSXOpeningElement({ node }) {
          if (node.name.type !== "JSXIdentifier" || !/^[a-z]/.test(node.name.name) || !node.loc) return;
          const place = t.stringLiteral(`${path}:${node.loc.start.line}:${node.loc.start.column}`);
          node.attributes.unshift(t.jsxAttribute(t.jsxIdentifier("data-heald-source"), place));
        },
        MetaProperty(place) {
          if (place.node.meta.name === "import") place.replaceWith(t.identifier("__healdMeta"));
        },
      },
    });
  }

  // A style sheet with the ones it imports, its addresses turned into ones that hold in the page.
  function sheet(path, seen = new Set()) {
    if (seen.has(path)) return "";
    seen.add(path);
    const folder = path.slice(0, Math.max(path.lastIndexOf("/"), 0));
    const locate = (reference) => {
      const [bare, rest = ""] = reference.split(/(?=[?#])/);
      const target = bare.startsWith("/") ? joined("", bare) : joined(folder, bare);
      return [target, `public/${target}`].filter(has).map((path) => address(path) + (rest.startsWith("#") ? rest : ""))[0];
    };
    return files[path]
      .replace(/@import\s+(?:url\()?\s*["']?(\.{1,2}\/[^"')\s]+)["']?\s*\)?\s*([^;]*);/g, (whole, target, media) => {
        const inner = joined(folder, target);
        if (!Object.hasOwn(files, inner)) throw new Error(`${path} imports "${target}", which is not a file of the project.`);
        return media.trim() ? `@media ${media}{${sheet(inner, seen)}}` : sheet(inner, seen);
      })
      .replace(/url\(\s*(["']?)(?![a-z][a-z0-9+.-]*:|#|\/\/)([^"')]+)\1\s*\)/gi, (whole, quote, target) => {
        const place = locate(target.trim());
        return place ? `url("${place}")` : whole;
      });
  }

  function style(text, path) {
    const element = document.createElement("style");
    if (tailwind.test(text)) element.type = "text/tailwindcss";
    element.dataset.healdSource = path;
    element.textContent = text;
    document.head.append(element);
  }

  function styleModule(path) {
    const mark = `_${loaded.size}`;
    const names = {};
    const text = sheet(path).replace(/\.(-?[_a-zA-Z][\w-]*)(?=[^{}]*\{)/g, (whole, name) => {
      names[name] = name + mark;
      return `.${name}${mark}`;
    });
    style(text, path);
    return names;
  }

  function fail(error) {
    console.error(error.message);
    const note = document.createElement("pre");
    note.style.cssText = "margin:0;padding:16px;color:#b00020;background:#fff;white-space:pre-wrap;font:14px monospace";
    note.textContent = error.message;
    document.body.prepend(note);
  }

  async function start() {
    document.documentElement.setAttribute("data-heald-compiling", "");
    try {
      for (const framework of frameworks) await framework.prepare?.();
      const render = frameworks.map((framework) => framework.render).find(Boolean) ?? run;
      for (const entry of entries) await render(resolve(entry, ""));
    } catch (error) {
      fail(error);
    }
    document.documentElement.removeAttribute("data-heald-compiling");
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();

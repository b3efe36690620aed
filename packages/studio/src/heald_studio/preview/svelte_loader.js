// Compiles the components of a Svelte project with Svelte's own compiler. Its runtime are modules of an import map.
(window.healdFrameworks ??= []).push(({ project, rooted }) => {
  const { names, modules: every } = window.healdSvelte;
  const runtime = ["svelte", "svelte/internal/client", "svelte/internal/disclose-version", "svelte/internal/flags/legacy"];
  const modules = new Map();

  const places = ["href", "src", "poster"];
  if (project.base !== "/") {
    const { setAttribute } = Element.prototype;
    Element.prototype.setAttribute = function (name, value) {
      setAttribute.call(this, name, places.includes(name) ? rooted(value) : value);
    };
  }

  // Says at each element where in the project it is written.
  function mark(path, source) {
    const starts = [];
    const visit = (node) => {
      if (node === null || typeof node !== "object") return;
      if (Array.isArray(node)) return node.forEach(visit);
      if (node.type === "RegularElement") starts.push(node);
      for (const key of ["fragment", "nodes", "body", "consequent", "alternate", "fallback", "pending", "then", "catch"]) visit(node[key]);
    };
    visit(window.svelte.parse(source, { modern: true, filename: path }).fragment);
    starts.sort((one, other) => other.start - one.start);
    for (const { start, name, attributes } of starts) {
      for (const { value, name: key } of [...attributes].reverse()) {
        const text = places.includes(key) && Array.isArray(value) && value.length === 1 ? value[0] : null;
        if (text?.type === "Text") source = source.slice(0, text.start) + rooted(source.slice(text.start, text.end)) + source.slice(text.end);
      }
      const lines = source.slice(0, start).split("\n");
      const at = start + 1 + name.length;
      const place = `${path}:${lines.length}:${lines.at(-1).length}`;
      source = `${source.slice(0, at)} data-heald-source="${place}"${source.slice(at)}`;
    }
    return source;
  }

  return {
    packages: names,
    async prepare() {
      const text = Object.values(project.files).join("\n");
      const used = every.filter((name) => runtime.includes(name) || text.includes(`"${name}"`) || text.includes(`'${name}'`));
      for (const name of used) modules.set(name, await import(name));
    },
    package(name) {
      return modules.has(name) ? Object.create(modules.get(name), { __esModule: { value: true } }) : null;
    },
    compile(path, source) {
      const options = { filename: path, generate: "client", dev: false, discloseVersion: false };
      try {
        if (/\.svelte$/.test(path)) return window.svelte.compile(mark(path, source), { ...options, css: "injected" }).js.code;
        if (!/\.svelte\.[jt]s$/.test(path)) return null;
        const plain = /ts$/.test(path) ? Babel.transform(source, { filename: path, presets: ["typescript"] }).code : source;
        return window.svelte.compileModule(plain, options).js.code;
      } catch (error) {
        const { line, column } = error.start ?? {};
        const place = line === undefined ? path : `${path}:${line}:${column}`;
        throw new Error(`${place}: ${error.message.split("\n")[0]}`);
      }
    },
  };
});

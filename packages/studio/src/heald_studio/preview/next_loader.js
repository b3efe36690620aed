// Renders a page of a Next.js project inside its layouts, with small versions of the modules of `next`.
(window.healdFrameworks ??= []).push(({ project, has, joined, run, wrapped, rooted, runPackage }) => {
  const endings = [".tsx", ".jsx", ".ts", ".js"];
  const path = `/${project.route}`;
  const React = runPackage("react");
  const make = React.createElement;
  const sheets = new Map();

  function address(href) {
    const text = typeof href === "object" && href !== null ? (href.pathname ?? "") + (href.hash ?? "") : String(href ?? "");
    if (location.protocol !== "file:" || !/^\/(?!\/)/.test(text)) return rooted(text);
    const [target, rest = ""] = text.slice(1).split(/(?=[?#])/);
    return `${"../".repeat(project.route.split("/").length - 1)}${target.replace(/\/$/, "") || "index"}.html${rest}`;
  }

  function Link({ href, prefetch, replace, scroll, shallow, legacyBehavior, passHref, locale, as, ...props }) {
    return make("a", { href: address(href), ...props });
  }

  function Image({ src, fill, priority, preload, quality, placeholder, blurDataURL, unoptimized, loader, overrideSrc, style, ...props }) {
    const source = typeof src === "object" && src !== null ? src.default?.src ?? src.src : src;
    const filling = fill ? { position: "absolute", inset: 0, width: "100%", height: "100%" } : {};
    return make("img", { src: rooted(source), ...props, style: { color: "transparent", ...filling, ...style } });
  }

  function Script({ strategy, onLoad, onReady, onError, ...props }) {
    React.useEffect(() => {
      const element = document.createElement("script");
      if (props.src) element.src = rooted(props.src);
      element.textContent = props.dangerouslySetInnerHTML?.__html ?? (typeof props.children === "string" ? props.children : "");
      document.body.append(element);
      return () => element.remove();
    }, []);
    return null;
  }

  function dynamic(load, options = {}) {
    const Loaded = React.lazy(async () => {
      const module = await (typeof load === "function" ? load() : load.loader());
      return module.default ? module : { default: module };
    });
    const Waiting = options.loading;
    return (props) => make(React.Suspense, { fallback: Waiting ? make(Waiting) : null }, make(Loaded, props));
  }

  // A font of Google has the family that its name says, which the page links; other fonts are those of the system.
  function font(name, options = {}) {
    const family = name.replaceAll("_", " ");
    const id = `heald-font-${name.toLowerCase()}`;
    const variable = options.variable ? `${id}-variable` : "";
    if (!sheets.has(id)) {
      const sheet = document.createElement("style");
      const rules = [`.${id} { font-family: "${family}", sans-serif; }`];
      if (variable) rules.push(`.${variable} { ${options.variable}: "${family}", sans-serif; }`);
      sheet.textContent = rules.join("\n");
      document.head.append(sheet);
      sheets.set(id, sheet);
    }
    return { className: id, variable, style: { fontFamily: `"${family}", sans-serif` } };
  }

  function stop(message) {
    throw new Error(message);
  }

  const router = {
    push: (href) => location.assign(address(href)),
    replace: (href) => location.replace(address(href)),
    back: () => history.back(),
    forward: () => history.forward(),
    refresh: () => location.reload(),
    prefetch: () => undefined,
  };
  const modules = {
    "next/link": wrapped(Link),
    "next/image": wrapped(Image),
    "next/script": wrapped(Script),
    "next/dynamic": wrapped(dynamic),
    "next/font/google": new Proxy({}, { get: (_, name) => (name === "__esModule" ? true : (options) => font(String(name), options)) }),
    "next/font/local": wrapped((options) => font("system-ui", options)),
    "next/navigation": {
      __esModule: true,
      useRouter: () => router,
      usePathname: () => path,
      useSearchParams: () => new URLSearchParams(location.search),
      useParams: () => ({}),
      useSelectedLayoutSegment: () => project.route.split("/")[0] || null,
      redirect: (href) => stop(`The page redirects to ${href}, which previews do not follow.`),
      notFound: () => stop("The page says that it is not found."),
    },
  };

  function find(folder, name) {
    return endings.map((ending) => joined(folder, name + ending)).find(has);
  }

  // The page and, from the inside out, the layouts of the folders around it.
  function parts(file) {
    const names = file.split("/").slice(0, -1);
    const layouts = names.map((_, at) => find(names.slice(0, names.length - at).join("/"), "layout")).filter(Boolean);
    return { page: run(file), layouts: layouts.map(run) };
  }

  function title(metadata) {
    const text = metadata.map((entry) => entry?.title).find((title) => title !== undefined);
    if (typeof text !== "object" || text === null) {
      const template = metadata.slice(1).map((entry) => entry?.title?.template).find(Boolean);
      const isOwn = metadata[0]?.title !== undefined;
      return template && isOwn ? template.replace("%s", text) : text;
    }
    return text.absolute ?? text.default;
  }

  // React removes what it did not write from the head, except scripts and styles: these are added when it is done.
  function Head({ metadata, children }) {
    React.useLayoutEffect(() => {
      document.title = title(metadata) ?? document.title;
      const description = metadata.map((entry) => entry?.description).find(Boolean);
      const metas = { viewport: "width=device-width, initial-scale=1", ...(description ? { description } : {}) };
      for (const [name, content] of Object.entries(metas)) {
        if (document.head.querySelector(`meta[name="${name}"]`)) continue;
        const element = document.createElement("meta");
        Object.assign(element, { name, content });
        document.head.append(element);
      }
    }, []);
    return children;
  }

  // Components that are async functions are those of the server: their result takes their place.
  async function served(node) {
    if (Array.isArray(node)) return Promise.all(node.map(served));
    if (!React.isValidElement(node)) return node;
    if (node.type?.constructor?.name === "AsyncFunction") return served(await node.type(node.props));
    const { children } = node.props;
    if (children === undefined || typeof children === "function") return node;
    const ready = await served(children);
    return ready === children ? node : React.cloneElement(node, undefined, ...(Array.isArray(ready) ? ready : [ready]));
  }

  return {
    packages: Object.keys(modules),
    package: (name) => modules[name] ?? null,
    asset: (place) => ({ src: place, height: undefined, width: undefined }),
    async render(file) {
      const { page, layouts } = parts(file);
      if (typeof page.default !== "function") stop(`${file} has no default export that is a component.`);
      const params = Promise.resolve({});
      let tree = make(page.default, { params, searchParams: Promise.resolve({}) });
      tree = await served(tree);
      for (const layout of layouts) tree = await served(make(layout.default, { params }, tree));
      const metadata = [page, ...layouts].map((module) => module.metadata);
      const { createRoot } = runPackage("react-dom/client");
      const target = layouts.length ? document : document.body;
      createRoot(target).render(make(Head, { metadata }, tree));
    },
  };
});

// @vitest-environment jsdom
import { describe, expect, test } from "vitest";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { ServerTool, Sources } from "../src/chat/sources";
import { spansOf } from "../src/events/waterfall";
import { ago, duration, money, plain, tokens } from "../src/parts/format";
import { toHtml } from "../src/parts/markdown";
import { parse } from "../src/shell/route";
import { asDocument, isVisible, pageOf } from "../src/studio/draft";
import { blitzFields, penFields } from "../src/studio/playgrounds";
import { changeOf, promptOf } from "../src/studio/prompt";
import { isLoopback } from "../src/studio/share";
import { beginsWithPage } from "../src/studio/source";
import { stepsOf, withoutSteps } from "../src/studio/steps";
import type { VersionView } from "../src/wire/api";
import { Conversation, Course, delayBefore, Drafts, fold, type LogEvent, restoreConversation } from "@heald/client";

describe("markdown", () => {
  test("is markdown", () => {
    expect(toHtml("**a** `b`")).toContain("<strong>a</strong> <code>b</code>");
    expect(toHtml("| a |\n|---|\n| 1 |")).toContain("<td>1</td>");
  });

  test("leaves HTML as the text that it is", () => {
    const box = document.createElement("div");
    box.innerHTML = toHtml("a <b>c</b>\n\n<i>d</i>");
    expect(box.textContent).toContain("a <b>c</b>");
    expect(box.textContent).toContain("<i>d</i>");
  });

  test.each([
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](data:text/html,<script>alert(1)</script>)",
    "![a](https://example.org/a.png)",
    "![a](//example.org/a.png)",
    "![a][r]\n\n[r]: https://example.org/a.png",
    "<svg onload=alert(1)>",
    '<a href="https://example.org" onclick="alert(1)">x</a>',
    "<iframe srcdoc='<script>1</script>'></iframe>",
    "<style>*{background:url(https://example.org)}</style>",
    "```html\n<img src=x onerror=alert(1)>\n```",
    '[a](https://example.org "x\\" onmouseover=alert(1)")',
    "<form action=https://example.org><input name=a></form>",
    "<math><mi//xlink:href='data:x,<script>alert(4)</script>'>",
  ])("%s does nothing", (text) => {
    const box = document.createElement("div");
    box.innerHTML = toHtml(text);
    expect(box.querySelector("img, script, svg, iframe, style, form, math, object, [onerror], [onclick], [onload], [style]")).toBeNull();
    for (const element of box.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        expect(name.startsWith("on")).toBe(false);
        if (name === "href") expect(value).toMatch(/^(https?:|mailto:|#)/);
      }
      if (element.tagName === "A") expect(element.getAttribute("rel")).toBe("noopener noreferrer");
    }
  });
});

test("characters that hide or reorder text are shown as their code", () => {
  expect(plain("a\u202eb\u0007\u200bc\nd\te")).toBe("a⟦\\u202e⟧b⟦\\x07⟧⟦\\u200b⟧c\nd\te");
  expect(plain("⟦\\x1b⟧ \u001b")).toBe("⟦\\x1b⟧ ⟦\\x1b⟧");
});

test("figures", () => {
  expect([duration(12), duration(1500), duration(61_000)]).toEqual(["12 ms", "1.5 s", "1 min 1 s"]);
  expect([duration(9970), duration(59_700), duration(119_700)]).toEqual(["10 s", "1 min 0 s", "2 min 0 s"]);
  expect([tokens(12), tokens(1234), tokens(250_000)]).toEqual(["12", "1.2k", "250k"]);
  expect([money(0), money(0.0012), money(1.5)]).toEqual(["$0", "$0.0012", "$1.50"]);
  expect(ago(0, 120_000)).toBe("2 min ago");
});

test("waiting grows to fifteen seconds and never ends", () => {
  const delays = [0, 1, 2, 3, 4, 5, 50].map((attempt) => delayBefore(attempt, () => 1));
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000]);
  expect(delayBefore(0, () => 0)).toBe(250);
});

test("addresses", () => {
  expect(parse("#/session/a%2Fb/events")).toEqual({ view: "session", id: "a/b", tab: "events", event: null });
  expect(parse("#/project/p/code/v")).toEqual({ view: "project", id: "p", tab: "code", version: "v", file: null });
  expect(parse("#/session/s/events/12")).toEqual({ view: "session", id: "s", tab: "events", event: 12 });
  expect(parse("#nonsense")).toEqual({ view: "start" });
  expect(parse("#/session/100%/chat")).toEqual({ view: "session", id: "100%", tab: "chat", event: null });
});

test("a prompt of an address, of words, and of files", () => {
  expect(promptOf("https://example.org/a", [])).toEqual({ url: "https://example.org/a" });
  expect(promptOf("like https://example.org but blue", [])).toEqual({ url: "https://example.org", text: "like https://example.org but blue" });
  const picture = { id: "1", kind: "image" as const, name: "a.png", data: "data:image/png;base64,AA==" };
  expect(promptOf("", [picture, { ...picture, role: "mobile" }]).images).toEqual([{ data: picture.data }, { data: picture.data, role: "mobile" }]);
  expect(promptOf(" ", [picture, { ...picture, kind: "html", data: "<p>" }])).toEqual({ images: [{ data: picture.data }], html: "<p>" });
});

test("an address ends before the sign that ends its sentence, and a host alone is one", () => {
  expect(promptOf("Rebuild https://example.org/a.", []).url).toBe("https://example.org/a");
  expect(promptOf("stripe.com/docs", [])).toEqual({ url: "https://stripe.com/docs" });
  expect(promptOf("index.html", [])).toEqual({ text: "index.html" });
  expect(promptOf("e.g. a bakery", [])).toEqual({ text: "e.g. a bakery" });
});

test("an address among the words of a change is not a page to capture", () => {
  const words = "link the button to https://example.org/shop";
  expect(changeOf(` ${words}\n`, [])).toEqual({ text: words });
  expect(changeOf("https://example.org/shop", [])).toEqual({ url: "https://example.org/shop", text: "https://example.org/shop" });
  const picture = { id: "1", kind: "image" as const, name: "a.png", data: "data:image/png;base64,AA==" };
  expect(changeOf("use this", [picture])).toEqual({ text: "use this", images: [{ data: picture.data }] });
});

test("the addresses of one's own machine", () => {
  expect(["localhost", "127.0.0.1", "[::1]"].every(isLoopback)).toBe(true);
  expect(["192.168.1.5", "example.org"].some(isLoopback)).toBe(false);
});

test.each([
  ["", false],
  ["<!doctype html><html><head><title>A</title><style>body { color: red }", false],
  ["<!doctype html><html><head><style>a > b {}</style></head>\n<body class='x'>\n", false],
  ["<!doctype html><html><head></head><body><!-- the header --><hea", false],
  ['<html><body><div id="root"></div><script type="text/babel">const a = <p>Hi</p>', false],
  ["<!doctype html><html><head></head><body><header>", true],
  ["<h1>Hi", true],
  ["Plain words", true],
  ['<svg viewBox="0 0 1 1">', true],
])("%s is something to look at: %s", (text, visible) => {
  expect(isVisible(text)).toBe(visible);
});

describe("drafts", () => {
  const draft = (path: string, text = "") => ({ path, call: "c", text, written: false });

  test("the page among the files", () => {
    const files = [draft("style.css"), draft("about.html"), draft("index.html")].map((each) => [each.path, each] as const);
    expect(pageOf(new Map(files), null)?.path).toBe("index.html");
    expect(pageOf(new Map(files), "about.html")?.path).toBe("about.html");
    expect(pageOf(new Map([["style.css", draft("style.css")]]), null)).toBeNull();
  });

  test("have their libraries from here", () => {
    const text = '<!doctype html><script src="https://cdn.tailwindcss.com" integrity="x"></script><img src="//placehold.co/10">';
    const shown = asDocument(draft("index.html", text), "/preview/t/");
    expect(shown).toMatch(/^<!doctype html><script/);
    expect(asDocument(draft("index.html", "<h1>Hi</h1>"), "/preview/t/")).toBe("<!doctype html><h1>Hi</h1>");
    expect(shown).toContain('src="/preview/t/_libraries/cdn.tailwindcss.com"></script>');
    expect(shown).toContain("/preview/t/_libraries/placehold.co/10");
  });
});

test("a snapshot is shown, and the stream goes on behind it", () => {
  const call = { type: "tool_use" as const, id: "c1", name: "look", input: {} };
  const state = restoreConversation(
    "s",
    {
      messages: [
        { role: "user", content: [{ type: "text", text: "Hi" }] },
        { role: "assistant", content: [{ type: "reasoning", text: "Hm" }, { type: "text", text: "Hello" }, call] },
      ],
      approvals: [{ approval: "a", call_id: "c1", name: "look", digest: "d", summary: "look" }],
      status: "waiting",
      exchange: "x",
    },
    40,
  );
  expect(state.seq).toBe(40);
  expect(state.transcript.items.map((item) => item.kind)).toEqual(["user", "thinking", "text", "tool"]);
  expect(state.transcript.items.at(-1)).toMatchObject({ phase: "waiting" });
  const event = { seq: 41, id: "e", session: "s", exchange: "x", layer: "state", time: 1, epoch: 0 } as const;
  fold(state, { ...event, type: "approval_resolved", data: { approval: "a", call_id: "c1", decision: "allowed" } });
  expect([state.seq, state.approvals.size, state.messages.length]).toEqual([41, 0, 2]);
  fold(state, { ...event, seq: 7, type: "conversation_thinking", data: {} });
  expect(state.status).toBe("working");
});

test("what was rewound before stays so when it is rewound again", () => {
  const course = new Course();
  course.rewind(10, 5);
  course.rewind(20, 15);
  expect([3, 7, 12, 17, 25].map((seq) => course.holds(seq))).toEqual([true, false, true, false, true]);
});

test("a preview that is taken back leaves the file as it was written before", () => {
  const drafts = new Drafts();
  const say = (type: string, data: object) => drafts.feed({ type, data } as unknown as LogEvent);
  say("file_preview", { id: "c1", path: "a", offset: 0, text: "one" });
  say("tool_result", { id: "c1", status: "ok", content: "" });
  say("file_preview", { id: "c2", path: "a", offset: 0, text: "tw" });
  say("file_preview", { id: "c2", path: "a", offset: 2, text: "o" });
  expect(drafts.files.get("a")).toMatchObject({ text: "two", written: false });
  say("file_preview_reset", { id: "c2", path: "a" });
  expect(drafts.files.get("a")).toMatchObject({ text: "one", written: true });
});

test("spans of a log", () => {
  const place = { id: "", session: "s", exchange: "x", epoch: 0 } as const;
  const events = [
    { ...place, seq: 1, time: 1, type: "exchange_request", layer: "exchange", data: { message: { role: "user", content: [] } } },
    { ...place, seq: 2, time: 2, type: "message_start", layer: "stream", data: { message_id: "m", model: "model", attempt: 1 } },
    { ...place, seq: 3, time: 4, type: "message_stop", layer: "stream", data: { message_id: "m" } },
  ] as unknown as LogEvent[];
  expect(spansOf(events)).toMatchObject([
    { kind: "exchange", end: null },
    { kind: "message", name: "model", start: 2, end: 4 },
  ]);
});

describe("playgrounds", () => {
  test("a pen is one document", () => {
    expect(JSON.parse(penFields("Bread", "<h1>Bread</h1>")["data"] ?? "")).toMatchObject({ title: "Bread", html: "<h1>Bread</h1>" });
  });

  test("a project with a package is started, another one served", () => {
    expect(blitzFields("Bread", new Map([["index.html", "<h1>"]]))).toEqual({
      "project[title]": "Bread",
      "project[template]": "html",
      "project[files][index.html]": "<h1>",
    });
    expect(blitzFields("Bread", new Map([["package.json", "{}"]]))["project[template]"]).toBe("node");
  });
});

describe("next steps", () => {
  const text = "Built.\n\n**Next steps:**\n- Add a footer\n* Make it dark\n3. Use serifs\n- One too many";

  test("are read from the end of a text", () => {
    expect(stepsOf(text)).toEqual(["Add a footer", "Make it dark", "Use serifs"]);
    expect(stepsOf("The next steps: none")).toEqual([]);
    expect(stepsOf(`Next steps:\n- ${"x".repeat(200)}`)).toEqual([]);
  });

  test("are not shown in the text, also while they are written", () => {
    expect(withoutSteps(text)).toBe("Built.");
    expect(withoutSteps("Built.\nNext steps:\n- Ad")).toBe("Built.");
    expect(withoutSteps("Built.")).toBe("Built.");
  });
});

describe("what a provider looks up", () => {
  const events = [
    { type: "message_start", data: { message_id: "m1", model: "m", attempt: 1 } },
    { type: "server_tool_call", data: { message_id: "m1", id: "s1", name: "web_search", input: { query: "looms" } } },
    { type: "server_tool_result", data: { message_id: "m1", id: "s1", name: "web_search", sources: [{ title: "A <b>page</b>", url: "https://example.org/" }] } },
    { type: "text_content_block_start", data: { index: 0, block: "b1" } },
    { type: "text_delta", data: { index: 0, block: "b1", text: "Looms weave." } },
    { type: "citation_added", data: { message_id: "m1", block: "b1", source: { title: "Script", url: "javascript:alert(1)" } } },
    { type: "citation_added", data: { message_id: "m1", block: "", source: { title: "A page", url: "https://example.org/" } } },
    { type: "citation_added", data: { message_id: "m1", block: "b1", source: { title: "A page", url: "https://example.org/" } } },
  ].map((event, at) => ({ ...event, seq: at + 1, id: `e${at}`, session: "s", exchange: "x", layer: "stream", time: at, epoch: 0 }) as unknown as LogEvent);
  const items = events.reduce(fold, new Conversation("s")).transcript.items;

  test("is part of the conversation", () => {
    expect(items.map((item) => item.kind)).toEqual(["server_tool", "text"]);
    const [tool, text] = items;
    expect(tool).toMatchObject({ name: "web_search", done: true, failed: false });
    expect(text?.kind === "text" && text.sources.map((source) => source.title)).toEqual(["Script", "A page"]);
  });

  test("is shown with links to the web only", () => {
    const [tool, text] = items;
    if (tool?.kind !== "server_tool" || text?.kind !== "text") throw new Error("other items");
    const shown = renderToStaticMarkup(createElement(ServerTool, { item: tool }));
    expect(shown).toContain("looms");
    expect(shown).toContain('href="https://example.org/"');
    expect(shown).toContain("A &lt;b&gt;page");
    const cited = renderToStaticMarkup(createElement(Sources, { sources: text.sources, label: "Sources" }));
    expect(cited).not.toContain("javascript:");
    expect(cited).toContain("A page</a>");
  });
});

test("attempts that fail one after the other share a notice", () => {
  const state = new Conversation("s");
  let seq = 0;
  const feed = (type: string, data: unknown) => fold(state, { seq: ++seq, session: "s", exchange: "e", type, time: 0, data } as LogEvent);
  const notices = () => state.transcript.items.map((item) => (item.kind === "notice" ? `${item.error?.message ?? ""} ${item.text}` : item.kind));
  const error = { code: "overloaded", message: "Busy." };
  for (const attempt of [2, 3, 4]) {
    feed("message_start", { message_id: `m${attempt}`, model: "m", attempt: attempt - 1 });
    feed("message_discarded", { message: `m${attempt}`, error });
    feed("retry_scheduled", { message: `m${attempt}`, attempt, delay_s: attempt, error });
  }
  expect(notices()).toEqual(["Busy. Attempt 4 follows in 4.0 s."]);
  feed("message_start", { message_id: "m5", model: "m", attempt: 4 });
  expect(notices()).toEqual(["Busy. This is attempt 4."]);
  feed("text_content_block_start", { block: "b", index: 0 });
  feed("message_start", { message_id: "m6", model: "m", attempt: 1 });
  feed("message_discarded", { message: "m6", error });
  feed("retry_scheduled", { message: "m6", attempt: 2, delay_s: 1, error });
  expect(notices()).toEqual(["Busy. This is attempt 4.", "text", "Busy. Attempt 2 follows in 1.0 s."]);
});

test("a version begins with a page only where its base has one", () => {
  const version = (id: string, entry: string | null, base: string | null) =>
    ({ id, base: base === null ? null : { version: base, variant: 0 }, variants: [{ index: 0, entry }] }) as VersionView;
  const [empty, page] = [version("empty", null, null), version("page", "index.html", null)];
  expect(beginsWithPage([empty, page], empty)).toBe(false);
  expect(beginsWithPage([empty, page], version("next", null, "empty"))).toBe(false);
  expect(beginsWithPage([empty, page], version("next", null, "page"))).toBe(true);
});

test("a conversation that is handed over says who continues", () => {
  const state = new Conversation("s");
  const feed = (seq: number, data: unknown) => fold(state, { seq, session: "s", exchange: "e", type: "agent_changed", time: 0, data } as LogEvent);
  feed(1, { agent: "billing", previous: "triage", model: "m" });
  feed(2, { agent: "", previous: "billing" });
  expect(state.transcript.items.map((item) => (item.kind === "notice" ? item.text : item.kind))).toEqual([
    "The agent billing continues, with m.",
    "The first agent continues.",
  ]);
});

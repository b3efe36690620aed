// A page of assistant-ui with one of its runtimes: node assistant_ui.mjs OPTIONS. Prints what the thread shows.
import { JSDOM } from "jsdom";

const { url, token, runtime } = JSON.parse(process.argv[2]);
const dom = new JSDOM("<!doctype html><div id=root></div>", { url });
Object.assign(globalThis, { window: dom.window, document: dom.window.document, IS_REACT_ACT_ENVIRONMENT: false });
Object.defineProperty(globalThis, "navigator", { value: dom.window.navigator, configurable: true });
for (const name of ["HTMLElement", "Element", "Node", "MutationObserver"]) globalThis[name] = dom.window[name];
globalThis.ResizeObserver ??= class { observe() {} unobserve() {} disconnect() {} };
const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
const { AssistantRuntimeProvider, makeAssistantTool } = await import("@assistant-ui/react");
const { AssistantChatTransport, useChatRuntime } = await import("@assistant-ui/react-ai-sdk");
const { lastAssistantMessageIsCompleteWithToolCalls } = await import("ai");
const { useDataStreamRuntime } = await import("@assistant-ui/react-data-stream");

const headers = { Authorization: `Bearer ${token}` };
const page = { errors: [] };
const onError = (error) => page.errors.push(error.message);
const transport = new AssistantChatTransport({ api: `${url}/api/chat`, headers });
const Locate = makeAssistantTool({
  toolName: "locate",
  type: "frontend",
  description: "Where the user is.",
  parameters: { type: "object", properties: { of: { type: "string" } }, required: ["of"] },
  execute: async () => "Bergen",
});

function ChatPage() {
  page.runtime = useChatRuntime({ transport, onError, sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls });
  return createElement(AssistantRuntimeProvider, { runtime: page.runtime }, createElement(Locate));
}
function DataStreamPage() {
  page.runtime = useDataStreamRuntime({ api: `${url}/api/chat`, headers, onError, maxSteps: 5 });
  return createElement(AssistantRuntimeProvider, { runtime: page.runtime }, createElement(Locate));
}
createRoot(document.getElementById("root")).render(createElement(runtime === "data-stream" ? DataStreamPage : ChatPage));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const until = async (condition) => {
  while (!condition()) await pause(5);
};
await until(() => page.runtime);
await pause(100); // the tool registers itself
const thread = () => page.runtime.thread;
const last = () => thread().getState().messages.at(-1);
const textOf = (message) => message.content.filter((part) => part.type === "text").map((part) => part.text).join("");

async function ask(text, { stopAfter } = {}) {
  const before = thread().getState().messages.length;
  let pieces = 0;
  let shown = "";
  const unsubscribe = thread().subscribe(() => {
    const message = last();
    if (message?.role !== "assistant" || textOf(message) === shown) return;
    shown = textOf(message);
    pieces += 1;
    if (stopAfter && pieces === stopAfter) thread().cancelRun();
  });
  thread().append(text);
  await until(() => thread().getState().messages.length >= before + 2 && !thread().getState().isRunning);
  await pause(300); // a result of a tool of the page begins another run
  await until(() => !thread().getState().isRunning);
  unsubscribe();
  return { text: textOf(last()), pieces, status: last().status?.type, reason: last().status?.reason };
}

const got = {};
got.streamed = await ask("Hello");
got.second = (await ask("Thanks")).text;
got.tool = (await ask("Please locate")).text;
got.stopped = await ask("A long one", { stopAfter: 3 });
got.after = (await ask("Go on")).text;
got.failed = await ask("Please fail");
got.error = page.errors.at(-1) ?? JSON.stringify(last().status?.error ?? "");
got.errors = page.errors;
console.log(JSON.stringify(got));
process.exit(0);

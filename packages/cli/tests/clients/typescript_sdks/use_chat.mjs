// `useChat` in React's strict mode, which mounts twice: node react.mjs OPTIONS. Prints the messages of each page.
import { JSDOM } from "jsdom";

const { url, token, chat } = JSON.parse(process.argv[2]);
const dom = new JSDOM("<!doctype html><div id=root></div>", { url });
Object.assign(globalThis, { window: dom.window, document: dom.window.document, navigator: dom.window.navigator, IS_REACT_ACT_ENVIRONMENT: false });
const { createElement, StrictMode } = await import("react");
const { createRoot } = await import("react-dom/client");
const { useChat } = await import("@ai-sdk/react");
const { DefaultChatTransport } = await import("ai");

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const textOf = (message) => message.parts.filter((part) => part.type === "text").map((part) => part.text).join("");

function open(messages, resume) {
  const page = { errors: [], requests: [] };
  const watched = (input, init) => (page.requests.push(init?.method ?? "GET"), fetch(input, init));
  const transport = new DefaultChatTransport({ api: `${url}/api/chat`, headers: { Authorization: `Bearer ${token}` }, fetch: watched });
  function Chat() {
    page.chat = useChat({ id: chat, messages, resume, transport, onError: (error) => page.errors.push(error.message) });
    return null;
  }
  const root = createRoot(document.getElementById("root"));
  root.render(createElement(StrictMode, null, createElement(Chat)));
  page.close = () => root.unmount();
  return page;
}
async function until(condition) {
  while (!condition()) await pause(10);
}
const shown = (page) => ({ messages: page.chat.messages.map((m) => [m.id, m.role, textOf(m)]), status: page.chat.status, errors: page.errors, requests: page.requests });

const first = open([], false);
await until(() => first.chat);
await pause(200); // the second mount aborts what the first one began
first.chat.sendMessage({ text: "Something long" });
await until(() => first.chat.messages.length === 2 && textOf(first.chat.messages[1]).length > 60);
const stored = first.chat.messages;
first.close();
const second = open(stored.slice(0, 1), true);
await until(() => second.chat?.status === "ready" && second.chat.messages.length === 2);
await pause(200);
console.log(JSON.stringify(shown(second)));
second.close();
const third = open(second.chat.messages, true);
await until(() => third.requests.length);
await pause(300);
third.chat.sendMessage({ text: "Thanks" });
await until(() => third.chat.messages.length >= 4 && third.chat.status === "ready");
console.log(JSON.stringify(shown(third)));
process.exit(0);

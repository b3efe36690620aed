// A chat of the AI SDK on a server: node ai_chat.mjs OPTIONS STEPS, both JSON. Prints what it has after each step.
import WebSocket from "ws";

const [options, steps] = process.argv.slice(2).map((each) => JSON.parse(each));
const sdk = await import(options.package ?? "ai");
const { AbstractChat, DefaultChatTransport } = sdk;
const headers = { Authorization: `Bearer ${options.token}` };
const body = options.tools ? { tools: options.tools } : {};

class State {
  constructor(messages) {
    this.messages = messages;
    this.status = "ready";
    this.error = undefined;
  }
  pushMessage = (message) => {
    this.messages = [...this.messages, message];
  };
  popMessage = () => {
    this.messages = this.messages.slice(0, -1);
  };
  replaceMessage = (index, message) => {
    this.messages = this.messages.map((known, at) => (at === index ? message : known));
  };
  snapshot = (thing) => structuredClone(thing);
}

function transport() {
  if (options.transport !== "socket") return new DefaultChatTransport({ api: `${options.url}/api/chat`, headers, body });
  return new sdk.WebSocketChatTransport({
    url: `${options.url}/api/chat/ws`,
    protocols: [`heald.bearer.${options.token}`],
    webSocket: WebSocket,
    body,
  });
}

class Chat extends AbstractChat {
  constructor(messages) {
    const errors = [];
    const used = transport();
    super({
      id: options.chat,
      state: new State(messages),
      transport: used,
      onError: (error) => errors.push(String(error.message ?? error)),
      sendAutomaticallyWhen: (state) =>
        sdk.lastAssistantMessageIsCompleteWithApprovalResponses(state) ||
        sdk.lastAssistantMessageIsCompleteWithToolCalls(state),
    });
    this.errors = errors;
    this.used = used;
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const isBusy = () => chat.status === "submitted" || chat.status === "streaming";
async function idle() {
  for (let quiet = 0; quiet < 10; quiet = isBusy() ? 0 : quiet + 1) await pause(10);
}
const toolPart = (state) => chat.lastMessage.parts.find((part) => part.state === state);

let chat = new Chat([]);
for (const step of steps) {
  if (step.do === "send") await chat.sendMessage({ text: step.text, files: step.files });
  if (step.do === "edit") await chat.sendMessage({ text: step.text, messageId: chat.messages[step.index].id });
  if (step.do === "regenerate") await chat.regenerate();
  if (step.do === "resume") await chat.resumeStream();
  if (step.do === "approve") {
    await chat.addToolApprovalResponse({ id: toolPart("approval-requested").approval.id, approved: step.approved, reason: step.reason });
    await idle();
  }
  if (step.do === "output") {
    const part = toolPart("input-available");
    const given = step.error ? { state: "output-error", errorText: step.error } : { output: step.output };
    await chat.addToolOutput({ tool: step.tool, toolCallId: part.toolCallId, ...given });
    await idle();
  }
  if (step.do === "settle") {
    // until nothing runs on the server
    for (let status = 200; status !== 204; await pause(20)) {
      const answer = await fetch(`${options.url}/api/chat/${options.chat}/stream`, { headers });
      await answer.body?.cancel();
      status = answer.status;
    }
  }
  if (step.do === "fetch") {
    const answer = await fetch(`${options.url}/api/chat/${options.chat}`, { headers });
    chat = new Chat((await answer.json()).messages);
  }
  if (step.do === "leave" || step.do === "stop") {
    const before = chat.messages.length;
    const sending = chat.sendMessage({ text: step.text });
    while (!(chat.messages.length > before + 1 && chat.lastMessage?.role === "assistant" && chat.lastMessage.parts.some((part) => part.type === "text" && part.text))) await pause(10);
    if (step.do === "stop") await fetch(`${options.url}/api/chat/${options.chat}/stop`, { method: "POST", headers });
    else await chat.stop();
    await sending;
  }
  console.log(JSON.stringify({ status: chat.status, errors: chat.errors, messages: chat.messages }));
}
chat.used.close?.();
process.stdout.write("", () => process.exit(0)); // a pipe is written asynchronously

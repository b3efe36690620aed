// A chat of the AI SDK on a server: node ai.mjs URL TOKEN CHAT STEPS. Prints what it has after each step, as JSON lines.
import { AbstractChat, DefaultChatTransport } from "ai";

const [url, token, id, steps] = process.argv.slice(2);

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

class Chat extends AbstractChat {
  constructor(messages) {
    const headers = { Authorization: `Bearer ${token}` };
    const errors = [];
    const data = [];
    super({
      id,
      state: new State(messages),
      transport: new DefaultChatTransport({ api: `${url}/api/chat`, headers }),
      onError: (error) => errors.push(String(error.message ?? error)),
      onData: (part) => data.push(part),
    });
    this.errors = errors;
    this.parts = data;
  }
}

let chat = new Chat([]);
for (const step of JSON.parse(steps)) {
  if (step.do === "send") await chat.sendMessage({ text: step.text });
  if (step.do === "regenerate") await chat.regenerate();
  if (step.do === "resume") await chat.resumeStream();
  if (step.do === "reload") chat = new Chat(step.messages ?? chat.messages.filter((each) => each.role === "user"));
  if (step.do === "leave") {
    const before = chat.messages.length;
    const sending = chat.sendMessage({ text: step.text });
    while (chat.messages.length < before + 2 || !chat.lastMessage?.parts?.some((part) => part.type === "text" && part.text)) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await chat.stop();
    await sending;
  }
  console.log(
    JSON.stringify({ status: chat.status, errors: chat.errors, messages: chat.messages, data: chat.parts }),
  );
}

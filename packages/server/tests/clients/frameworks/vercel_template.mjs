// A chat with the requests of Vercel's chat template: node vercel_template.mjs OPTIONS. Prints what it got.
import { AbstractChat, DefaultChatTransport } from "ai";

const { url, token } = JSON.parse(process.argv[2]);

class State {
  messages = [];
  status = "ready";
  error = undefined;
  pushMessage = (message) => void (this.messages = [...this.messages, message]);
  popMessage = () => void (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index, message) => void (this.messages = this.messages.with(index, message));
  snapshot = (thing) => structuredClone(thing);
}

// The template sends the last message alone, with fields of its own; an answer of the user goes with all messages.
const transport = new DefaultChatTransport({
  api: `${url}/api/chat`,
  headers: { Authorization: `Bearer ${token}` },
  prepareSendMessagesRequest: ({ id, messages, body }) => {
    const last = messages.at(-1);
    const content = last.role === "user" ? { message: last } : { messages };
    return { body: { id, ...content, selectedChatModel: "chat-model", selectedVisibilityType: "private", ...body } };
  },
});
const errors = [];
class Chat extends AbstractChat {
  constructor() {
    super({ id: crypto.randomUUID(), generateId: () => crypto.randomUUID(), state: new State(), transport, onError: (error) => errors.push(error.message) });
  }
}

const textOf = (message) => message.parts.filter((part) => part.type === "text").map((part) => part.text).join("");
const chat = new Chat();
async function ask(text, stopAt) {
  const count = chat.messages.length + 2;
  const sent = chat.sendMessage({ text });
  const isAnswering = () => chat.messages.length === count && textOf(chat.lastMessage).length >= stopAt;
  while (stopAt && !isAnswering()) await new Promise((resolve) => setTimeout(resolve, 5));
  if (stopAt) await chat.stop();
  await sent;
  return textOf(chat.lastMessage);
}

const got = {};
got.streamed = { text: await ask("Hello"), pieces: 1 };
got.second = await ask("Thanks");
got.tool = await ask("The weather?");
got.stopped = (await ask("A long one", 20)).length;
got.after = await ask("Go on");
await ask("Please fail");
got.error = errors.at(-1);
console.log(JSON.stringify(got));
process.exit(0);

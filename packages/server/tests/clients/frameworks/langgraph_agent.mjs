// An agent of LangGraph.js with the server as its model: node langgraph_agent.mjs OPTIONS. Prints what it got.
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";

const { url, token, responses } = JSON.parse(process.argv[2]);
const open = (model) => new ChatOpenAI({
  model,
  apiKey: token,
  configuration: { baseURL: `${url}/v1` },
  maxRetries: 0,
  streaming: true,
  useResponsesApi: responses,
});
const locate = tool(async () => "Bergen", { name: "locate", description: "Where the user is.", schema: z.object({ of: z.string() }) });
const agent = createReactAgent({ llm: open("heald"), tools: [locate], checkpointSaver: new MemorySaver() });
const textOf = (message) => (typeof message.content === "string" ? message.content : message.content.map((part) => part.text ?? "").join(""));

async function ask(thread, content, signal) {
  let pieces = 0;
  const config = { configurable: { thread_id: thread }, streamMode: "messages", signal };
  for await (const [message] of await agent.stream({ messages: [{ role: "user", content }] }, config)) {
    if (textOf(message)) pieces += 1;
    if (content.includes("long") && pieces) return { pieces };
  }
  const { messages } = (await agent.getState(config)).values;
  return { text: textOf(messages.at(-1)), pieces, kinds: messages.map((message) => message.getType()) };
}

const got = {};
got.streamed = await ask("one", "Hello");
got.second = (await ask("one", "Thanks")).text;
const located = await ask("two", "Please locate");
got.tool = located.text;
got.kinds = located.kinds;
got.error = await ask("three", "Please fail").catch((error) => error.message);
got.refused = await open("unknown").invoke("Hello").catch((error) => error.message);
const controller = new AbortController();
await ask("four", "A long one", controller.signal).catch(() => {});
controller.abort();
console.log(JSON.stringify(got));
process.exit(0);

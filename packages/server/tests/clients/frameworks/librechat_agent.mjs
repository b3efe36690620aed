// An agent of LibreChat with the server as its endpoint: node librechat_agent.mjs OPTIONS. Prints what it got.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { GraphEvents, Providers, Run } from "@librechat/agents";

const { url, token, tool } = JSON.parse(process.argv[2]);
const locate = new DynamicStructuredTool({ ...tool, schema: tool.parameters, func: async () => "Bergen" });
const llmConfig = {
  provider: Providers.OPENAI,
  model: "heald",
  apiKey: token,
  configuration: { baseURL: `${url}/v1` },
  streaming: true,
  streamUsage: true,
  maxRetries: 0,
};

async function ask(messages, { tools = [], signal, onPiece = () => {} } = {}) {
  let pieces = 0;
  const onDelta = { handle: () => ((pieces += 1), onPiece()) };
  const run = await Run.create({
    runId: crypto.randomUUID(),
    graphConfig: { type: "standard", llmConfig, tools, instructions: "Be brief." },
    returnContent: true,
    customHandlers: { [GraphEvents.ON_MESSAGE_DELTA]: onDelta },
  });
  const config = { runId: crypto.randomUUID(), configurable: { thread_id: crypto.randomUUID(), user_id: "ann" }, version: "v2", signal };
  await run.processStream({ messages }, config);
  const last = run.getRunMessages()?.at(-1);
  return { text: String(last?.content), pieces, kinds: run.getRunMessages()?.map((message) => message.getType()) };
}

const got = {};
got.streamed = await ask([new HumanMessage("Hello")]);
got.second = (await ask([new HumanMessage("Hello"), new AIMessage(got.streamed.text), new HumanMessage("Thanks")])).text;
const located = await ask([new HumanMessage("Please locate")], { tools: [locate] });
got.tool = located.text;
got.kinds = located.kinds;
got.error = await ask([new HumanMessage("Please fail")]).then(() => "", (error) => error.message);
const controller = new AbortController();
await ask([new HumanMessage("A long one")], { signal: controller.signal, onPiece: () => controller.abort() }).catch(() => {});
console.log(JSON.stringify(got));
process.exit(0);

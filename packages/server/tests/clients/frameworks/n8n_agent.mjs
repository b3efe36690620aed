// The model and the agent that n8n builds of the same packages: node n8n_agent.mjs OPTIONS. Prints what it got.
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { AgentExecutor, createToolCallingAgent } from "@langchain/classic/agents";
import { ChatOpenAI } from "@langchain/openai";

const { url, token, tool, responses } = JSON.parse(process.argv[2]);
const llm = new ChatOpenAI({
  apiKey: token,
  model: "heald",
  temperature: 0.7,
  topP: 1,
  maxTokens: 4096,
  frequencyPenalty: 0,
  presencePenalty: 0,
  timeout: 60000,
  maxRetries: 0,
  configuration: { baseURL: `${url}/v1`, defaultHeaders: { "openai-platform": "org-n8n" } },
  modelKwargs: responses ? {} : { response_format: { type: "text" } },
  supportsStrictToolCalling: false,
  ...(responses ? { useResponsesApi: true } : {}),
});
const locate = new DynamicStructuredTool({ ...tool, schema: tool.parameters, func: async () => "Bergen" });
const prompt = ChatPromptTemplate.fromMessages([
  ["system", "You are a helpful assistant"],
  ["placeholder", "{chat_history}"],
  ["human", "{input}"],
  ["placeholder", "{agent_scratchpad}"],
]);
const agent = createToolCallingAgent({ llm, tools: [locate], prompt, streamRunnable: false });
const executor = new AgentExecutor({ agent, tools: [locate], maxIterations: 10, returnIntermediateSteps: true });
const textOf = (output) => (typeof output === "string" ? output : output.map((part) => part.text ?? "").join(""));
const ask = async (input, chat_history = []) => textOf((await executor.invoke({ input, chat_history })).output);

const got = {};
got.plain = await ask("Hello");
got.second = await ask("Thanks", [new HumanMessage("Hello"), new AIMessage(got.plain)]);
got.tool = await ask("Please locate");
got.error = await ask("Please fail").catch((error) => error.message);
const streamed = { text: "", pieces: 0 };
for await (const chunk of await llm.stream([new HumanMessage("Hello")])) {
  if (chunk.text) streamed.pieces += 1;
  streamed.text += chunk.text;
}
got.streamed = streamed;
const controller = new AbortController();
try {
  for await (const chunk of await llm.stream([new HumanMessage("A long one")], { signal: controller.signal })) {
    if (chunk.text) controller.abort();
  }
} catch {
  // the abort
}
console.log(JSON.stringify(got));
process.exit(0);

// Clients of /v1/responses in node: node responses.mjs OPTIONS. Prints what each of them got, as JSON.
import { createOpenAI } from "@ai-sdk/openai";
import { generateObject, generateText, isStepCount, jsonSchema, streamText, tool } from "ai";
import OpenAI from "openai";

const options = JSON.parse(process.argv[2]);
const baseURL = `${options.url}/v1`;
const got = {};

// --- openai-node -----------------------------------------------------------------------------------------------------

const client = new OpenAI({ baseURL, apiKey: options.token, maxRetries: 0 });
const first = await client.responses.create({ model: "heald", input: "Hello" });
const own = { type: "function", ...options.tool };
const asked = await client.responses.create({
  model: "heald",
  previous_response_id: first.id,
  input: "Please locate",
  tools: [own],
});
const call = asked.output.find((item) => item.type === "function_call");
const located = await client.responses.create({
  model: "heald",
  previous_response_id: asked.id,
  input: [{ type: "function_call_output", call_id: call.call_id, output: "Bergen" }],
  tools: [own],
});
got.turns = [first.output_text, located.output_text];

const begun = await client.responses.create({ model: "heald", input: "A long one", stream: true, background: true });
let seen = "";
let cursor = 0;
let name = "";
for await (const event of begun) {
  cursor = event.sequence_number;
  if (event.type === "response.created") name = event.response.id;
  if (event.type === "response.output_text.delta") seen += event.delta;
  if (cursor > 15) break; // closes the connection
}
const rest = await client.responses.retrieve(name, { stream: true, starting_after: cursor });
for await (const event of rest) {
  if (event.type === "response.output_text.delta") seen += event.delta;
}
got.resumed = seen;

const slow = await client.responses.create({ model: "heald", input: "A long one", background: true });
got.cancelled = (await client.responses.cancel(slow.id)).status;
const picture = { type: "input_image", image_url: `data:image/png;base64,${options.pixel}`, detail: "auto" };
const looked = await client.responses.create({
  model: "heald",
  input: [{ role: "user", content: [{ type: "input_text", text: "What is seen?" }, picture] }],
});
got.picture = looked.output_text;
got.error = await client.responses.create({ model: "heald", input: "Please fail" }).catch((error) => error.message);
const streamed = client.responses.stream({ model: "heald", input: "Hello" });
got.streamed = (await streamed.finalResponse()).output_text;

// --- the AI SDK ------------------------------------------------------------------------------------------------------

const provider = createOpenAI({ baseURL, apiKey: options.token });
const locate = tool({
  description: options.tool.description,
  inputSchema: jsonSchema(options.tool.parameters),
  execute: async () => "Bergen",
});
const sdk = (got.sdk = {});
const messages = [];
for (const [content, store] of [
  ["Hello", true],
  ["Please locate", true],
  ["Thanks", true],
]) {
  messages.push({ role: "user", content });
  const result = streamText({
    model: provider("heald"),
    messages,
    tools: { locate },
    stopWhen: isStepCount(5),
    providerOptions: { openai: { store } },
  });
  sdk[content] = "";
  for await (const delta of result.textStream) sdk[content] += delta;
  messages.push(...(await result.responseMessages));
}
const unstored = await generateText({
  model: provider("heald"),
  prompt: "Please locate",
  tools: { locate },
  stopWhen: isStepCount(5),
  providerOptions: { openai: { store: false } },
});
sdk.unstored = unstored.text;
const image = await generateText({
  model: provider("heald"),
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "What is seen?" },
        { type: "file", data: options.pixel, mediaType: "image/png" },
      ],
    },
  ],
});
sdk.picture = image.text;
sdk.error = await generateText({ model: provider("heald"), prompt: "Please fail", maxRetries: 0 }).catch(
  (error) => error.message,
);
const aborted = new AbortController();
const cut = streamText({ model: provider("heald"), prompt: "A long one", abortSignal: aborted.signal });
sdk.aborted = "";
for await (const delta of cut.textStream) {
  sdk.aborted += delta;
  if (sdk.aborted.length > 30) aborted.abort();
}
if (options.schema) {
  const { object } = await generateObject({
    model: provider("heald"),
    schema: jsonSchema(options.schema),
    prompt: "A city in JSON",
  });
  sdk.object = object;
}

// Approvals of the agent's own tools, answered with yes and with no.
for (const approved of [true, false]) {
  const tools = {
    heald: provider.tools.mcp({ serverLabel: "heald", serverUrl: baseURL, requireApproval: "always" }),
  };
  const ask = [{ role: "user", content: "Please launch" }];
  const waiting = await generateText({ model: provider("heald"), messages: ask, tools });
  const request = waiting.content.find((part) => part.type === "tool-approval-request");
  ask.push(...waiting.response.messages);
  const answer = { type: "tool-approval-response", approvalId: request.approvalId, approved, providerExecuted: true };
  ask.push({ role: "tool", content: [answer] });
  const ended = await generateText({ model: provider("heald"), messages: ask, tools });
  sdk[approved ? "approved" : "denied"] = ended.text;
}
console.log(JSON.stringify(got));
process.stdout.write("", () => process.exit(0)); // a pipe is written asynchronously

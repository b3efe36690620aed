// Clients of /v1 in node: node openai_tools.mjs OPTIONS. Prints what each of them got, as JSON.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import OpenAI from "openai";

const options = JSON.parse(process.argv[2]);
const baseURL = `${options.url}/v1`;
const got = {};

const client = new OpenAI({ baseURL, apiKey: options.token, maxRetries: 0 });
const runner = client.chat.completions.runTools({
  model: "heald",
  stream: true,
  messages: [{ role: "user", content: "Please locate" }],
  tools: [
    {
      type: "function",
      function: { ...options.tool, parse: JSON.parse, function: async () => "Bergen" },
    },
  ],
});
got.openai = await runner.finalContent();
got.models = (await client.models.list()).data.map((each) => each.id);
try {
  await client.chat.completions.create({ model: "heald", messages: [{ role: "user", content: "Please fail" }] });
} catch (error) {
  got.error = error.message;
}

const turns = [{ role: "user", content: "Hello" }];
turns.push((await client.chat.completions.create({ model: "heald", messages: turns })).choices[0].message);
turns.push({ role: "user", content: "Thanks" });
got.turns = (await client.chat.completions.create({ model: "heald", messages: turns })).choices[0].message.content;
const picture = { type: "image_url", image_url: { url: `data:image/png;base64,${options.pixel}` } };
const looked = await client.chat.completions.create({
  model: "heald",
  messages: [{ role: "user", content: [{ type: "text", text: "What is seen?" }, picture] }],
});
got.picture = looked.choices[0].message.content;
const cut = await client.chat.completions.create({
  model: "heald",
  messages: [{ role: "user", content: "A long one" }],
  stream: true,
});
for await (const chunk of cut) {
  if (chunk.choices[0]?.delta.content) break; // closes the connection
}

const provider = createOpenAICompatible({ name: "heald", baseURL, apiKey: options.token });
const answer = await generateText({
  model: provider("heald"),
  prompt: "Please locate",
  stopWhen: stepCountIs(5),
  tools: {
    locate: tool({ description: options.tool.description, inputSchema: jsonSchema(options.tool.parameters), execute: async () => "Bergen" }),
  },
});
got.compatible = answer.text;
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
got.compatiblePicture = image.text;
got.compatibleError = await generateText({ model: provider("heald"), prompt: "Please fail", maxRetries: 0 }).catch(
  (error) => error.message,
);
const aborted = new AbortController();
const stopped = streamText({ model: provider("heald"), prompt: "Another long one", abortSignal: aborted.signal });
for await (const delta of stopped.textStream) {
  if (delta) aborted.abort();
}
console.log(JSON.stringify(got));
process.stdout.write("", () => process.exit(0)); // a pipe is written asynchronously

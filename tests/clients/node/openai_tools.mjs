// Clients of /v1 in node: node openai_tools.mjs OPTIONS. Prints what each of them got, as JSON.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import OpenAI from "openai";

const options = JSON.parse(process.argv[2]);
const baseURL = `${options.url}/v1`;
const got = {};

const client = new OpenAI({ baseURL, apiKey: options.token, maxRetries: 0 });
const runner = client.chat.completions.runTools({
  model: "weft",
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
  await client.chat.completions.create({ model: "weft", messages: [{ role: "user", content: "Please fail" }] });
} catch (error) {
  got.error = error.message;
}

const provider = createOpenAICompatible({ name: "weft", baseURL, apiKey: options.token });
const answer = await generateText({
  model: provider("weft"),
  prompt: "Please locate",
  stopWhen: stepCountIs(5),
  tools: {
    locate: tool({ description: options.tool.description, inputSchema: jsonSchema(options.tool.parameters), execute: async () => "Bergen" }),
  },
});
got.compatible = answer.text;
console.log(JSON.stringify(got));
process.stdout.write("", () => process.exit(0)); // a pipe is written asynchronously

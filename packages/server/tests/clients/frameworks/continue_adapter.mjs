// The adapter of Continue with the server as its OpenAI: node continue_adapter.mjs OPTIONS. Prints what it got.
import { constructLlmApi } from "@continuedev/openai-adapters";

const { url, token, tool } = JSON.parse(process.argv[2]);
const api = constructLlmApi({ provider: "openai", apiKey: token, apiBase: `${url}/v1/` });
const tools = [{ type: "function", function: tool }];
const user = (content) => ({ role: "user", content });

async function chat(messages, more = {}, signal = new AbortController().signal) {
  const message = { role: "assistant", content: "" };
  let pieces = 0;
  for await (const chunk of api.chatCompletionStream({ model: "scripted", messages, stream: true, ...more }, signal)) {
    const delta = chunk.choices[0]?.delta ?? {};
    if (delta.content) pieces += 1;
    message.content += delta.content ?? "";
    for (const call of delta.tool_calls ?? []) (message.tool_calls ??= []).push(call);
  }
  return { message, pieces };
}

const got = {};
const first = await chat([user("Hello")]);
got.streamed = { text: first.message.content, pieces: first.pieces };
got.second = (await chat([user("Hello"), first.message, user("Thanks")])).message.content;
const asked = await chat([user("Please locate")], { tools });
const results = asked.message.tool_calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "Bergen" }));
got.tool = (await chat([user("Please locate"), asked.message, ...results], { tools })).message.content;
got.error = await chat([user("Please fail")]).catch((error) => error.message);
const controller = new AbortController();
for await (const chunk of api.chatCompletionStream({ model: "scripted", messages: [user("A long one")], stream: true }, controller.signal)) {
  if (chunk.choices[0]?.delta.content) break;
}
controller.abort();

const signal = new AbortController().signal;
const place = { model: "coder", prompt: "add = ", suffix: "\n", max_tokens: 9, stop: ["\n\n"] };
got.fim = "";
for await (const chunk of api.fimStream({ ...place, stream: true }, signal)) got.fim += chunk.choices[0].delta.content ?? "";
got.completion = "";
for await (const chunk of api.completionStream({ ...place, stream: true }, signal)) got.completion += chunk.choices[0]?.text ?? "";
got.embedding = (await api.embed({ model: "coder", input: ["a", "b"], encoding_format: "float" })).data.map((row) => row.embedding);
console.log(JSON.stringify(got));
process.exit(0);

// A conversation over the client that openapi-typescript and openapi-fetch make from the document.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.js";

declare const process: { argv: string[]; stdout: { write(text: string): void } };

const [url = "", token = ""] = process.argv.slice(2).map((each) => JSON.parse(each) as string);
const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
const made = await client.POST("/sessions", { body: { title: "Generated" } });
const session = made.data?.id ?? "";
const sent = await client.POST("/sessions/{session}/messages", { params: { path: { session } }, body: { text: "Hello" } });

let events: components["schemas"]["Event"][] = [];
let last: components["schemas"]["ExchangeResponse"] | null = null;
for (let tries = 0; tries < 200 && last === null; tries += 1) {
  const log = await client.GET("/sessions/{session}/log", { params: { path: { session }, query: { after: 0 } } });
  events = log.data?.events ?? [];
  for (const event of events) if (event.type === "exchange_response") last = event.data;
  await new Promise((resolve) => setTimeout(resolve, 50));
}
let text = "";
for (const event of events) if (event.type === "text_delta") text += event.data.text;

const missing = await client.GET("/sessions/{session}", { params: { path: { session: "ses_missing" } } });
const stream = await client.GET("/sessions/{session}/events", {
  params: { path: { session }, query: { dialect: "native" } },
  parseAs: "stream",
});
const reader = stream.data?.getReader();
const first = await reader?.read();
await reader?.cancel();
const completion = await client.POST("/v1/chat/completions", {
  body: { model: "heald", messages: [{ role: "user", content: "Hello" }] },
});
const message = typeof completion.data === "object" ? completion.data.choices[0]?.message : undefined;
const page = await client.GET("/studio");
const answer = {
  title: made.data?.title,
  state: sent.data?.state,
  status: last?.status,
  text,
  missing: missing.error?.error.code,
  streamed: first?.value !== undefined,
  completion: message?.content,
  stacks: (page.data?.stacks.length ?? 0) > 0,
};
process.stdout.write(`${JSON.stringify(answer)}\n`);

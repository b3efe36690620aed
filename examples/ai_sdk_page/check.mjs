// One answer, read by the SDK's own reader: node check.mjs URL TOKEN "question"
import { DefaultChatTransport, readUIMessageStream } from "ai";

const [url = "http://127.0.0.1:7878", token = "", question = "Hello"] = process.argv.slice(2);
const transport = new DefaultChatTransport({ api: `${url}/api/chat`, headers: { Authorization: `Bearer ${token}` } });
const asked = { id: "question-1", role: "user", parts: [{ type: "text", text: question }] };
const stream = await transport.sendMessages({ chatId: `check-${Date.now()}`, trigger: "submit-message", messages: [asked] });
let last;
for await (const message of readUIMessageStream({ stream })) last = message;
console.log(last.parts.filter((part) => part.type === "text").map((part) => part.text).join(""));

// An editor on `heald acp`, with the TypeScript library of ACP: node acp.mjs COMMAND FOLDER, both JSON. Prints what it got.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const [command, folder] = process.argv.slice(2).map((each) => JSON.parse(each));
const agent = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"], cwd: folder });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
const got = { updates: [], permissions: 0, written: {} };
const { agent: toAgent, client: toClient } = acp.methods;
const onText = [];

const editor = acp
  .client({ name: "tests" })
  .onNotification(toClient.session.update, ({ params }) => {
    got.updates.push(params.update.sessionUpdate);
    if (params.update.sessionUpdate === "agent_message_chunk") onText.forEach((call) => call(params.update.content.text));
  })
  .onRequest(toClient.session.requestPermission, ({ params }) => {
    got.permissions += 1;
    const option = params.options.find((each) => each.kind === "allow_once");
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  })
  .onRequest(toClient.fs.readTextFile, () => ({ content: "from the editor" }))
  .onRequest(toClient.fs.writeTextFile, ({ params }) => {
    got.written[params.path] = params.content;
    return {};
  });

await editor.connectWith(stream, async (context) => {
  const capabilities = { fs: { readTextFile: true, writeTextFile: true } };
  const hello = await context.request(toAgent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: capabilities });
  got.version = hello.protocolVersion;
  const { sessionId } = await context.request(toAgent.session.new, { cwd: folder, mcpServers: [] });
  const ask = (text) => context.request(toAgent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  got.write = (await ask("write")).stopReason;
  let cancelled = false;
  onText.push(() => {
    if (cancelled) return;
    cancelled = true;
    context.notify(toAgent.session.cancel, { sessionId });
  });
  got.cancel = (await ask("long")).stopReason;
  onText.length = 0;
  let text = "";
  onText.push((piece) => (text += piece));
  got.after = (await ask("hello")).stopReason;
  got.text = text;
});
agent.stdin.end();
got.exit = await new Promise((resolve) => agent.on("exit", resolve));
got.updates = [...new Set(got.updates)].sort();
console.log(JSON.stringify(got));

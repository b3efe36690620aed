// The JavaScript SDK of A2A: node a2a_client.mjs OPTIONS, as JSON. Prints what it got.
import { ClientFactory, ClientFactoryOptions, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";

const { url, token, binding } = JSON.parse(process.argv[2]);
const fetchImpl = (input, init = {}) => {
  const headers = new Headers(init.headers);
  headers.set("Authorization", `Bearer ${token}`);
  return fetch(input, { ...init, headers });
};
const Transport = binding === "JSONRPC" ? JsonRpcTransportFactory : RestTransportFactory;
const own = { transports: [new Transport({ fetchImpl })], preferredTransports: [binding] };
const client = await new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, own)).createFromUrl(url);

let count = 0;
function request(text, contextId = "") {
  const part = { content: { $case: "text", value: text }, filename: "", mediaType: "" };
  const ids = { messageId: `m${count++}`, contextId, taskId: "", extensions: [], referenceTaskIds: [] };
  return { tenant: "", message: { role: 1, parts: [part], ...ids } };
}
const join = (parts) => parts.map((part) => part.content?.value ?? "").join("");

/** Read a stream, up to a length of its text. */
async function read(stream, length = Infinity) {
  let task, text = "", state;
  for await (const { payload } of stream) {
    if (payload.$case === "task") {
      task = payload.value;
      text = task.artifacts.map((artifact) => join(artifact.parts)).join("");
    }
    if (payload.$case === "artifactUpdate") text += join(payload.value.artifact.parts);
    if (payload.$case === "statusUpdate") state = payload.value.status.state;
    if (text.length > length) break;
  }
  return { task, text, state };
}
const failure = (promise) => promise.then(() => null, (error) => error.name);

const first = await read(client.sendMessageStream(request("The weather?")));
const second = await read(client.sendMessageStream(request("Thanks", first.task.contextId)));
const whole = await client.sendMessage(request("Hello"));
const cut = await read(client.sendMessageStream(request("Something long")), 30);
const rest = await read(client.resubscribeTask({ id: cut.task.id, tenant: "" }));
const running = await read(client.sendMessageStream(request("Something longer")), 30);
const cancelled = await client.cancelTask({ id: running.task.id, tenant: "" });
const listed = await client.listTasks({ tenant: "", contextId: "", status: 0, pageSize: 2, pageToken: "" });
const future = await client.listTasks({ tenant: "", contextId: "", status: 0, pageToken: "", statusTimestampAfter: "2999-01-01T00:00:00Z" });
const badPage = client.listTasks({ tenant: "", contextId: "", status: 0, pageToken: "nonsense" });
console.log(
  JSON.stringify({
    texts: [first.text, second.text, join(whole.artifacts[0].parts)],
    cut: cut.text.length,
    resumed: rest.text.length,
    states: [first.state, rest.state, cancelled.status.state],
    listed: [listed.tasks.length, listed.totalSize, future.totalSize],
    errors: [await failure(client.getTask({ id: "ses_x.ex_y", tenant: "" })), await failure(badPage)],
  }),
);

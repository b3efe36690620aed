// Flows over @heald/client against a running server, named by the arguments. Prints one line of JSON: what each found.
import { createServer, connect } from "node:net";
import { ApiError, HealdClient, LiveStore } from "@heald/client";

const [url, token, ...names] = process.argv.slice(2);
const client = new HealdClient({ url, token });
const texts = (events) => events.filter((event) => event.type === "text_delta").map((event) => event.data.text).join("");

/** A proxy that cuts every connection after this many bytes of the server, `cuts` times. */
async function cuttingProxy(bytes, cuts) {
  const target = new URL(url);
  let left = cuts;
  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    let seen = 0;
    const own = `127.0.0.1:${server.address().port}`; // the server answers to its own name only
    near.on("data", (data) => far.write(Buffer.from(data.toString("latin1").replaceAll(own, target.host), "latin1")));
    far.on("data", (data) => {
      const allowed = left > 0 ? bytes - seen : Infinity;
      seen += data.length;
      if (data.length <= allowed) {
        near.write(data);
      } else if (allowed > 0) {
        left -= 1;
        near.end(data.subarray(0, allowed));
        far.destroy();
      }
    });
    for (const [one, other] of [[near, far], [far, near]]) {
      one.on("error", () => other.destroy());
      one.on("close", () => (one === near ? far.destroy() : near.end()));
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, cuts: () => cuts - left, close: () => server.close() };
}

async function resumed(transport) {
  const proxy = await cuttingProxy(6000, 4);
  const near = new HealdClient({ url: proxy.address, token });
  const session = await client.createSession({});
  const events = [];
  const outcome = await near.session(session.id).run("long", { transport, onEvent: (event) => events.push(event) });
  near.close();
  proxy.close();
  const seqs = events.map((event) => event.seq);
  const log = [];
  for await (const event of session.events()) {
    log.push(event);
    if (event.type === "exchange_response") break;
  }
  const missing = log.filter((event) => event.exchange === outcome.exchange && !seqs.includes(event.seq)).length;
  return { status: outcome.status, cuts: proxy.cuts(), doubled: seqs.length - new Set(seqs).size, missing, same: texts(events) === texts(log) };
}

const flows = {
  async store() {
    const [proxy, losing] = [await cuttingProxy(6000, 4), await cuttingProxy(1, 1)];
    const session = await client.createSession({});
    const store = new LiveStore(new HealdClient({ url: proxy.address, token }));
    store.open();
    const ended = new Promise((resolve) => {
      store.subscribe(session.id, () => {
        const { conversation, complete } = store.at(session.id);
        if (complete && conversation.turns > 0) resolve(conversation);
      });
    });
    store.follow(session.id);
    const sent = await new LiveStore(new HealdClient({ url: losing.address, token })).send(session.id, "long"); // its first response is lost
    const conversation = await ended;
    store.close();
    proxy.close();
    losing.close();
    const log = [];
    for await (const event of session.events()) {
      log.push(event);
      if (event.type === "exchange_response") break;
    }
    const same = JSON.stringify(conversation.events) === JSON.stringify(log);
    const requests = (await session.messages()).messages.filter((message) => message.role === "user").length;
    return { sent, same, requests, cuts: proxy.cuts(), lost: losing.cuts() };
  },
  async turns() {
    const session = await client.createSession({ title: "Flows" });
    const first = await session.run("one");
    const second = await session.run("two", { transport: "websocket" });
    client.close();
    const listed = await client.sessions.list("Flows");
    return { first: first.text, second: second.text, usage: first.usage.input > 0, listed: listed.sessions.length };
  },
  async approvals() {
    const session = await client.createSession({ permissions: "ask", tools: ["files"] });
    const asked = [];
    const options = (allowed) => ({ onApproval: (request) => (asked.push(request.name), allowed) });
    const yes = await session.run("write", options(true));
    const content = new TextDecoder().decode(await session.readFile("note.txt"));
    const no = await session.run("write", options(false));
    return { asked, yes: yes.text, no: no.text, content, files: (await session.files()).files.map((file) => file.path) };
  },
  async forks() {
    const session = await client.createSession({ permissions: "auto", tools: ["files"] });
    await session.run("write");
    const { events } = await client.sessions.log(session.id);
    const result = events.find((event) => event.type === "tool_result");
    const fork = await client.sessions.fork(session.id, result.seq, "What if", { result: { content: "a full disk", is_error: true } });
    let comparison;
    do comparison = await client.sessions.compare(session.id, fork.id);
    while (comparison.right.status === "open");
    const { left, right, shared } = comparison;
    return { title: fork.title, shared: shared === fork.parent_seq && shared < result.seq, changed: right.fork.changed, left: left.answer, right: right.answer };
  },
  async tools() {
    const session = await client.createSession({ tools: [] });
    const clock = { name: "clock", description: "The time.", input_schema: { type: "object" }, run: () => "noon" };
    const broken = { name: "broken", description: "Fails.", input_schema: { type: "object" }, run: () => { throw new Error("No battery."); } };
    const good = await session.run("clock", { tools: [clock] });
    const bad = await session.run("broken", { tools: [broken] });
    return { good: good.text, bad: bad.text };
  },
  async cancel() {
    const session = await client.createSession({});
    let cancelled;
    const outcome = await session.run("slow", { onEvent: (event) => { if (event.type === "text_delta") cancelled ??= session.cancel(); } });
    return { status: outcome.status, cancelled: (await cancelled).cancelled };
  },
  async errors() {
    const codes = [];
    const caught = async (promise) => { try { await promise; } catch (error) { codes.push(error instanceof ApiError ? error.code : String(error)); } };
    await caught(client.session("ses_missing").view());
    await caught(client.session("ses_missing").events().next());
    await caught(client.session("ses_missing").events({ transport: "websocket" }).next());
    client.close();
    const stranger = new HealdClient({ url, token: "another-token-than-the-one" });
    await caught(stranger.models());
    await caught(stranger.session("ses_missing").events().next());
    await caught(stranger.session("ses_missing").events({ after: 0, transport: "websocket" }).next());
    stranger.close();
    await caught(new HealdClient({ url: "http://127.0.0.1:9" }).models());
    const session = await client.createSession({});
    await caught(session.events({ after: 99 }).next());
    const snapshots = [];
    const stop = new AbortController();
    const reading = session.events({ after: 99, onReset: (snapshot, seq) => { snapshots.push([snapshot.status, seq]); stop.abort(new Error("enough")); }, signal: stop.signal }).next();
    await caught(reading.catch((error) => { throw new ApiError(0, error.message, ""); }));
    const failed = await session.run("fail");
    return { codes, snapshots, status: failed.status, failed: failed.error?.code };
  },
  async pictures() {
    const session = await client.createSession({});
    const pixel = Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), (c) => c.charCodeAt(0));
    const blob = await client.sessions.addBlob(session.id, pixel);
    const outcome = await session.run([{ type: "text", text: "picture" }, { type: "image", media_type: "image/png", blob }]);
    const { messages } = await session.messages();
    return { text: outcome.text, kinds: messages[0].content.map((block) => block.type) };
  },
  async studio() {
    const { stacks } = await client.studio();
    const made = await client.projects.create({ prompt: { text: "zebra" }, stack: "html_css", variants: 1 });
    const socket = client.createSocket();
    const status = await new Promise((resolve) => {
      socket.onProject = (project) => {
        const variant = project.versions[0].variants[0];
        if (!["queued", "running"].includes(variant.status)) resolve(variant.status);
      };
      socket.followProject(made.id);
      socket.open();
    });
    socket.close();
    const base = { version: made.versions[0].id, variant: 0 };
    const page = new TextDecoder().decode(await client.projects.readFile(made.id, base, "index.html"));
    await client.projects.remove(made.id);
    return { stacks: stacks.length > 0, status, page };
  },
  sse: () => resumed("sse"),
  websocket: () => resumed("websocket"),
};

const found = {};
for (const name of names) found[name] = await flows[name]();
console.log(JSON.stringify(found));

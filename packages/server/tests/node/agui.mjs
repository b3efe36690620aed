// An AG-UI agent on a server: node agui.mjs URL TOKEN THREAD STEPS. Prints what it has after each run, as JSON lines.
import { HttpAgent } from "@ag-ui/client";

const [url, token, threadId, steps] = process.argv.slice(2);
const agent = new HttpAgent({ url: `${url}/agui`, threadId, headers: { Authorization: `Bearer ${token}` } });
let count = 0;

for (const step of JSON.parse(steps)) {
  const events = [];
  const errors = [];
  if (step.text) agent.addMessage({ id: `u${(count += 1)}`, role: "user", content: step.text });
  const subscriber = {
    onEvent: ({ event }) => void events.push(event),
    onRunFailed: ({ error }) => void errors.push(String(error.message ?? error)),
  };
  try {
    await agent.runAgent(step.runId ? { runId: step.runId } : {}, subscriber);
  } catch (error) {
    errors.push(String(error.message ?? error));
  }
  console.log(JSON.stringify({ messages: agent.messages, state: agent.state, events, errors }));
}

// An AG-UI agent on a server: node agui_agent.mjs OPTIONS STEPS, both JSON. Prints what it has after each run.
import { HttpAgent, buildResumeArray } from "@ag-ui/client";

const [options, steps] = process.argv.slice(2).map((each) => JSON.parse(each));
const agent = new HttpAgent({
  url: `${options.url}/agui`,
  threadId: options.thread,
  headers: { Authorization: `Bearer ${options.token}` },
});
let count = 0;

for (const step of steps) {
  const events = [];
  const errors = [];
  const interrupts = agent.pendingInterrupts ?? [];
  if (step.repeat) agent.setMessages(agent.messages.filter((each) => each.role === "user"));
  if (step.content) agent.addMessage({ id: `u${(count += 1)}`, role: "user", content: step.content });
  if (step.result) {
    const call = agent.messages.flatMap((each) => each.toolCalls ?? []).at(-1);
    agent.addMessage({ id: `t${(count += 1)}`, role: "tool", toolCallId: step.call ?? call.id, content: step.result });
  }
  const subscriber = {
    onEvent: ({ event }) => {
      events.push(event);
      if (event.type !== "TEXT_MESSAGE_CONTENT") return;
      if (step.abort) agent.abortRun();
      if (step.stop) fetch(`${options.url}/agui/${options.thread}/stop`, { method: "POST", headers: agent.headers });
    },
    onRunFailed: ({ error }) => void errors.push(String(error.message ?? error)),
  };
  const input = { ...(step.runId ? { runId: step.runId } : {}), tools: options.tools ?? [], context: step.context ?? [] };
  if (step.answer !== undefined) {
    const answers = interrupts.map((each) => [each.id, { status: step.status ?? "resolved", payload: step.answer }]);
    input.resume = buildResumeArray(interrupts, Object.fromEntries(answers));
  }
  try {
    await agent.runAgent(input, subscriber);
  } catch (error) {
    errors.push(String(error.message ?? error));
  }
  console.log(JSON.stringify({ messages: agent.messages, state: agent.state, events, errors, interrupts: agent.pendingInterrupts ?? [] }));
}
process.stdout.write("", () => process.exit(0)); // a pipe is written asynchronously

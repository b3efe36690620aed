import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from "ai";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const server = import.meta.env.VITE_HEALD_URL ?? "http://127.0.0.1:7878";
const token = import.meta.env.VITE_HEALD_TOKEN ?? "";
const headers = { Authorization: `Bearer ${token}` };
const transport = new DefaultChatTransport({ api: `${server}/api/chat`, headers });

function Part({ part, decide }) {
  if (part.type === "text") return <p style={{ whiteSpace: "pre-wrap" }}>{part.text}</p>;
  if (part.type === "reasoning") return <p style={{ opacity: 0.6 }}>{part.text}</p>;
  if (part.type.startsWith("tool-") || part.type === "dynamic-tool") {
    return (
      <div>
        <pre>{`${part.toolName ?? part.type.slice(5)}: ${part.state}`}</pre>
        {part.state === "approval-requested" && (
          <>
            <pre>{JSON.stringify(part.input, null, 2)}</pre>
            <button onClick={() => decide({ id: part.approval.id, approved: true })}>Approve</button>
            <button onClick={() => decide({ id: part.approval.id, approved: false })}>Deny</button>
          </>
        )}
      </div>
    );
  }
  return null;
}

function Page() {
  const { id, messages, sendMessage, status, error, addToolApprovalResponse } = useChat({
    transport,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });
  const [text, setText] = useState("");
  const isBusy = status === "submitted" || status === "streaming";
  const send = (event) => {
    event.preventDefault();
    if (!text.trim()) return;
    sendMessage({ text });
    setText("");
  };
  // `stop` of useChat closes the connection only; the server is asked to end the work, and the stream ends with it.
  const stop = () => fetch(`${server}/api/chat/${id}/stop`, { method: "POST", headers });
  return (
    <main style={{ font: "16px/1.5 system-ui", maxWidth: "40rem", margin: "2rem auto" }}>
      {messages.map((message) => (
        <section key={message.id}>
          <strong>{message.role}</strong>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} decide={addToolApprovalResponse} />
          ))}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form onSubmit={send}>
        <input aria-label="Question" placeholder="Ask" value={text} onChange={(event) => setText(event.target.value)} />
        {isBusy ? <button type="button" onClick={stop}>Stop</button> : <button>Send</button>}
      </form>
    </main>
  );
}

createRoot(document.getElementById("root")).render(<Page />);

import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const server = import.meta.env.VITE_WEFT_URL ?? "http://127.0.0.1:7878";
const token = import.meta.env.VITE_WEFT_TOKEN ?? "";
const transport = new DefaultChatTransport({
  api: `${server}/api/chat`,
  headers: { Authorization: `Bearer ${token}` },
});

function Part({ part }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "reasoning") return <p style={{ opacity: 0.6 }}>{part.text}</p>;
  if (part.type.startsWith("tool-") || part.type === "dynamic-tool") {
    return <pre>{`${part.toolName ?? part.type.slice(5)}: ${part.state}`}</pre>;
  }
  return null;
}

function Page() {
  const { messages, sendMessage, status, stop } = useChat({ transport });
  const [text, setText] = useState("");
  const send = (event) => {
    event.preventDefault();
    sendMessage({ text });
    setText("");
  };
  return (
    <main style={{ font: "16px/1.5 system-ui", maxWidth: "40rem", margin: "2rem auto" }}>
      {messages.map((message) => (
        <section key={message.id}>
          <strong>{message.role}</strong>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} />
          ))}
        </section>
      ))}
      <form onSubmit={send}>
        <input value={text} onChange={(event) => setText(event.target.value)} placeholder="Ask" />
        {status === "ready" ? <button>Send</button> : <button type="button" onClick={stop}>Stop</button>}
      </form>
    </main>
  );
}

createRoot(document.getElementById("root")).render(<Page />);

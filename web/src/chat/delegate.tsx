/** An agent that works for a call: what it says and does, inside the call's card. */

import type { Item } from "../log/item";
import { useDelegate } from "./delegates";
import { Said, Thought } from "./messages";
import { ServerTool } from "./sources";
import { ToolCard } from "./tool_card";

export function Delegate({ call, session }: { call: string; session: string }) {
  const conversation = useDelegate(session, call);
  if (conversation === null || conversation.transcript.items.length === 0) return null;
  return (
    <div className="delegate">
      {conversation.transcript.items.map((item) => (
        <Part key={item.key} item={item} session={conversation.session} />
      ))}
    </div>
  );
}

function Part({ item, session }: { item: Item; session: string }) {
  if (item.kind === "text") return <Said item={item} />;
  if (item.kind === "thinking") return <Thought item={item} />;
  if (item.kind === "server_tool") return <ServerTool item={item} />;
  return item.kind === "tool" ? <ToolCard item={item} session={session} /> : null;
}

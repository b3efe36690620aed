/** An agent that works for a call: what it says and does, inside the call's card. */

import { useEffect, useReducer } from "react";
import { useLive } from "../live/hooks";
import type { Item } from "../log/item";
import { Said, Thought } from "./messages";
import { ToolCard } from "./tool_card";

export function Delegate({ call }: { call: string }) {
  const live = useLive();
  const [, again] = useReducer((count: number) => count + 1, 0);
  const session = live.delegateOf(call);
  useEffect(() => (session === undefined ? undefined : live.listen(session, again)), [live, session]);
  const followed = session === undefined ? undefined : live.at(session);
  if (session === undefined || followed === undefined) return null;
  return (
    <div className="delegate">
      {followed.conversation.transcript.items.map((item) => (
        <Part key={item.key} item={item} session={session} />
      ))}
    </div>
  );
}

function Part({ item, session }: { item: Item; session: string }) {
  if (item.kind === "text") return <Said item={item} />;
  if (item.kind === "thinking") return <Thought item={item} />;
  return item.kind === "tool" ? <ToolCard item={item} session={session} /> : null;
}

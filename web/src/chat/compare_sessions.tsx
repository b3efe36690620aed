/** Two sessions side by side, from where they differ. Both are live. */

import type { Followed, Item, SessionFuture } from "@heald/client";
import { useMemo } from "react";
import { useFollowed } from "../live/hooks";
import { Button } from "../parts/button";
import { money } from "../parts/format";
import { Icon } from "../parts/icon";
import { useFetched } from "../shell/fetched";
import { address, go } from "../shell/route";
import { useTabTitle } from "../shell/tab_title";
import { sessions } from "../wire/api";
import { Composer } from "./composer";
import { Thread } from "./thread";

export function CompareSessions({ left, right }: { left: string; right: string }) {
  const followed = [useFollowed(left), useFollowed(right)] as const;
  // Compared once both logs are there, and again when an exchange ends, which is when its figures are known.
  const isRead = followed.every((side) => side?.complete);
  const ended = followed.map((side) => (side?.conversation.exchange === null ? side.conversation.seq : 0)).join(" ");
  const { value: comparison, error } = useFetched(isRead ? `comparison ${left} ${right} ${ended}` : null, () => sessions.compare(left, right), { keepsLast: true });
  useTabTitle("Comparison");
  if (error) {
    return (
      <div className="empty grow" role="alert">
        <Icon name="alert" size={20} />
        <p>{error.message}</p>
        <Button onClick={() => go("sessions")}>All sessions</Button>
      </div>
    );
  }
  if (comparison === null || followed[0] === null || followed[1] === null) return <div className="empty grow">Loading…</div>;
  return (
    <div className="session">
      <header className="view-head">
        <h1 className="truncate grow">Comparison</h1>
        <span className="badge">{counted(comparison.shared, "shared event")}</span>
      </header>
      <div className="futures">
        <Future future={comparison.left} followed={followed[0]} shared={comparison.shared} />
        <Future future={comparison.right} followed={followed[1]} shared={comparison.shared} />
      </div>
    </div>
  );
}

function Future({ future, followed, shared }: { future: SessionFuture; followed: Followed; shared: number }) {
  const { conversation } = followed;
  const changed = useMemo(
    () => new Set(conversation.events.flatMap((event) => (event.seq > shared && event.type === "tool_result" ? [event.data.id] : []))),
    // oxlint-disable-next-line react/exhaustive-deps -- events are added in place; the version says that there are more
    [conversation, conversation.version, shared],
  );
  const isAfter = useMemo(() => (item: Item) => item.seq > shared || (item.kind === "tool" && changed.has(item.id)), [shared, changed]);
  const parts = future.fork?.changed ?? [];
  return (
    <section className="future" aria-label={`${future.title} ${future.id}`.trim()}>
      <header className="future-head">
        <h2 className="truncate">
          <a href={address("session", future.id)}>{future.title || future.id}</a>
        </h2>
        <div className="row wrap">
          {parts.map((part) => (
            <span key={part} className="badge">
              <Icon name="branch" size={12} />
              another {part}
            </span>
          ))}
          {(future.models ?? []).map((model) => (
            <span key={model} className="badge">
              {model}
            </span>
          ))}
        </div>
        <p className="faint numeric">
          {factsOf(future)} · <span className="mono">{future.id}</span>
        </p>
      </header>
      <Thread session={future.id} followed={followed} show={isAfter} />
      <Composer session={future.id} conversation={conversation} />
    </section>
  );
}

function factsOf(future: SessionFuture): string {
  const facts = [future.status ?? "open", `then ${counted(future.turns ?? 0, "turn")}`, counted(future.calls ?? 0, "call")];
  if ((future.failed_calls ?? 0) > 0) facts.push(`${future.failed_calls} failed`);
  if ((future.files ?? []).length > 0) facts.push(counted((future.files ?? []).length, "file"));
  facts.push(future.cost_usd === null ? "unknown cost" : money(future.cost_usd ?? 0));
  return facts.join(" · ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

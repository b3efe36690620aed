/** Two sessions side by side, from where they differ. Both are live. */

import "../style/futures.css";
import type { Followed, Item, SessionFuture } from "@heald/client";
import { useMemo } from "react";
import { useFollowed } from "../live/hooks";
import { Button } from "../parts/button";
import { money } from "../parts/format";
import { Icon } from "../parts/icon";
import { useFetched } from "../shell/fetched";
import { address, go } from "../shell/route";
import { useTabTitle } from "../shell/tab_title";
import { compareSessions as texts } from "../texts/compare";
import { statusText } from "../texts/statuses";
import { sessions } from "../wire/api";
import { Composer } from "./composer";
import { Thread } from "./thread";

export function CompareSessions({ left, right }: { left: string; right: string }) {
  const followed = [useFollowed(left), useFollowed(right)] as const;
  // Compared once both logs are there, and again when an exchange ends, which is when its figures are known.
  const isRead = followed.every((side) => side?.complete);
  const ended = followed.map((side) => (side?.conversation.exchange === null ? side.conversation.seq : 0)).join(" ");
  const { value: comparison, error } = useFetched(isRead ? `comparison ${left} ${right} ${ended}` : null, () => sessions.compare(left, right), { keepsLast: true });
  useTabTitle(texts.comparison);
  if (error) {
    return (
      <div className="empty grow" role="alert">
        <Icon name="alert" size={20} />
        <p>{error.message}</p>
        <Button onClick={() => go("sessions")}>{texts.allSessions}</Button>
      </div>
    );
  }
  if (comparison === null || followed[0] === null || followed[1] === null) return <div className="empty grow">{texts.loading}</div>;
  return (
    <div className="session">
      <header className="view-head">
        <h1 className="truncate grow">{texts.comparison}</h1>
        <span className="badge">{texts.sharedEvents(comparison.shared)}</span>
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
              {texts.another} {part}
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
  const facts = [future.status ? statusText(future.status) : texts.open, texts.thenTurns(future.turns ?? 0), texts.calls(future.calls ?? 0)];
  if ((future.failed_calls ?? 0) > 0) facts.push(texts.failed(future.failed_calls));
  if ((future.files ?? []).length > 0) facts.push(texts.files((future.files ?? []).length));
  facts.push(future.cost_usd === null ? texts.unknownCost : money(future.cost_usd ?? 0));
  return facts.join(" · ");
}

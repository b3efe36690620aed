/** A session: its conversation, and beside it its files and its log. */

import { textOf, type UserItem } from "@heald/client";
import { Suspense, useCallback, useState } from "react";
import { useFollowed, useLive } from "../live/hooks";
import { Boundary } from "../parts/boundary";
import { Button, IconButton } from "../parts/button";
import { Icon } from "../parts/icon";
import { lazyPart } from "../parts/lazy_part";
import { Segmented } from "../parts/segmented";
import { firstWords } from "../parts/format";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { go } from "../shell/route";
import { useTabTitle } from "../shell/tab_title";
import { sessionView as texts } from "../texts/chat";
import { type Content, sessions } from "../wire/api";
import { Composer } from "./composer";
import { SessionSettings } from "./session_settings";
import { Thread } from "./thread";

const Files = lazyPart("files", () => import("./files").then((module) => module.Files));
const Timeline = lazyPart("timeline", () => import("./timeline").then((module) => module.Timeline));
const Inspector = lazyPart("inspector", () => import("../events/inspector").then((module) => module.Inspector));

type Tab = "chat" | "files" | "timeline" | "events";

const SIDES: Record<Exclude<Tab, "chat">, string> = { files: texts.filesLabel, timeline: texts.timeline, events: texts.events };

export function SessionView({ id, tab, event }: { id: string; tab: string; event: number | null }) {
  const followed = useFollowed(id);
  const info = useFetched(`session ${id}`, () => sessions.one(id));
  const [settings, setSettings] = useState(false);
  const side: Tab = tab === "files" || tab === "timeline" || tab === "events" ? tab : "chat";
  const branch = useCallback(
    (item: UserItem, text: string) => {
      const images = item.message.content.filter((block) => block.type === "image" || block.type === "file");
      const content: Content = [{ type: "text", text }, ...images];
      forked(id, item.before, firstWords(text))
        .then(async (fork) => {
          await sessions.send(fork, content);
          go("session", fork);
        })
        .catch(showFailure);
    },
    [id],
  );
  const live = useLive();
  const retry = useCallback(
    (item: UserItem) => {
      const tip = live.at(id)?.conversation.seq ?? 0;
      sessions
        .rewind(id, Math.max(0, item.before))
        .then(() =>
          sessions.send(id, item.message.content as Content).catch(async (error: unknown) => {
            await sessions.rewind(id, tip); // what was there before is better than nothing
            throw error;
          }),
        )
        .catch(showFailure);
    },
    [id, live],
  );
  const switchTo = useCallback((seq: number) => void sessions.rewind(id, seq).catch(showFailure), [id]);
  const error = info.error ?? followed?.error;
  const first = followed?.conversation.messages[0];
  const title = info.value?.title || firstWords(first === undefined ? "" : (first.said ?? textOf(first)));
  useTabTitle(title || texts.session);
  if (error) {
    return (
      <div className="empty grow" role="alert">
        <Icon name="alert" size={20} />
        <p>{error.message}</p>
        <Button onClick={() => go("sessions")}>{texts.allSessions}</Button>
      </div>
    );
  }
  if (followed === null) return null;
  const { conversation } = followed;
  const changed = conversation.files.size;
  return (
    <div className="session">
      <header className="view-head">
        <h1 className="truncate grow" title={title}>
          {title || texts.newSession}
        </h1>
        {info.value?.settings.workspace && (
          <span className="badge">
            <Icon name="folder" size={12} />
            {info.value.settings.workspace}
          </span>
        )}
        <span className="badge hide-small">{conversation.transcript.model || info.value?.settings.model}</span>
        {info.value?.parent && (
          <Button small look="quiet" icon="compare" title={texts.compareWithOrigin} onClick={() => go("compare", info.value?.parent ?? "", id)}>
            {texts.compare}
          </Button>
        )}
        <Segmented
          tabs
          label={texts.partsOfTheSession}
          value={side}
          onChange={(next) => go("session", id, next)}
          choices={[
            { value: "chat", label: texts.chat, icon: "chat" },
            { value: "files", label: changed > 0 ? texts.files(changed) : texts.filesLabel, icon: "file" },
            { value: "timeline", label: texts.timeline, icon: "history" },
            { value: "events", label: texts.events, icon: "pulse" },
          ]}
        />
        <IconButton icon="gear" label={texts.sessionSettings} aria-expanded={settings} onClick={() => setSettings(!settings)} />
      </header>
      <div className={`session-body ${side === "chat" ? "" : "with-side"}`}>
        <div className="session-chat">
          <Thread session={id} followed={followed} onBranch={branch} onRetry={retry} onSwitch={switchTo} />
          <Composer session={id} conversation={conversation} />
        </div>
        {side !== "chat" && (
          <aside className="session-side" aria-label={SIDES[side]}>
            <Boundary level="panel" resetKey={side}>
              <Suspense fallback={<div className="empty">{texts.loading}</div>}>
                {side === "files" ? (
                  <Files session={id} conversation={conversation} />
                ) : side === "timeline" ? (
                  <Timeline session={id} conversation={conversation} />
                ) : (
                  <Inspector key={event} session={id} conversation={conversation} at={event} />
                )}
              </Suspense>
            </Boundary>
          </aside>
        )}
      </div>
      {settings && info.value !== null && (
        <SessionSettings view={info.value} onClose={() => setSettings(false)} onChanged={info.set} />
      )}
    </div>
  );
}

/** A session that begins as this one was at an event; before the first event that is a new one with the same settings. */
async function forked(id: string, at: number, title: string): Promise<string> {
  if (at > 0) return (await sessions.fork(id, at, title)).id;
  const { settings } = await sessions.one(id);
  const creation = Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => value !== null && ["model", "tools", "instructions", "permissions", "workspace"].includes(name)),
  );
  return (await sessions.create({ ...creation, title })).id;
}

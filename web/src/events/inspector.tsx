/** A live look into the log: by layer, by word, and as a waterfall. */

import "../style/events.css";
import type { Conversation, Layer, LogEvent } from "@heald/client";
import { useDeferredValue, useMemo, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { plain } from "../parts/format";
import { Rows } from "../parts/rows";
import { Segmented } from "../parts/segmented";
import { inspector as texts } from "../texts/events";
import { sessions } from "../wire/api";
import { download } from "../wire/rest";
import { Waterfall } from "./waterfall";
import { WhatIf } from "./what_if";

const LAYERS: readonly Layer[] = ["stream", "state", "message", "exchange"];

interface Props {
  session: string;
  conversation: Conversation;
  /** The event that is shown first, by its number. */
  at?: number | null;
}

export function Inspector({ session, conversation, at = null }: Props) {
  const [view, setView] = useState<"log" | "waterfall">("log");
  const [hidden, setHidden] = useState<ReadonlySet<Layer>>(new Set());
  const [words, setWords] = useState("");
  const [picked, setChosen] = useState<LogEvent | null | undefined>(undefined); // undefined until somebody chooses
  const [forking, setForking] = useState(false);
  const search = useDeferredValue(words.trim().toLowerCase());
  const version = useDeferredValue(conversation.version);
  const rows = useMemo(
    () => conversation.events.filter((event) => !hidden.has(event.layer) && matches(event, search)),
    // oxlint-disable-next-line react/exhaustive-deps -- events are added in place; the version says that there are more
    [conversation, version, hidden, search],
  );
  const chosen = picked === undefined ? (conversation.events.find((event) => event.seq === at) ?? null) : picked;
  return (
    <div className="inspector">
      <div className="panel-bar row wrap">
        <Segmented
          label={texts.view}
          value={view}
          onChange={setView}
          choices={[
            { value: "log", label: texts.log },
            { value: "waterfall", label: texts.waterfall },
          ]}
        />
        {view === "log" && (
          <>
            <div className="row" role="group" aria-label={texts.layers}>
              {LAYERS.map((layer) => (
                <Button key={layer} small look="quiet" aria-pressed={!hidden.has(layer)} onClick={() => setHidden(toggled(hidden, layer))}>
                  {layer}
                </Button>
              ))}
            </div>
            <input
              className="field grow event-search"
              type="search"
              aria-label={texts.searchEvents}
              placeholder={texts.searchTypeOrContent}
              value={words}
              onChange={(event) => setWords(event.target.value)}
            />
            <span className="faint numeric">{texts.events(rows.length)}</span>
          </>
        )}
        <Button small icon="download" onClick={() => download(sessions.exportPath(session), `${session}.jsonl`)}>
          {texts.export}
        </Button>
      </div>
      {view === "waterfall" ? (
        <Waterfall conversation={conversation} version={version} />
      ) : (
        <Rows
          label={texts.eventsLabel}
          rows={rows}
          height={26}
          follow={at === null}
          at={at === null ? -1 : rows.findIndex((event) => event.seq === at)}
          render={(event) => (
            <button
              key={event.seq}
              type="button"
              className={`event-row ${chosen === event ? "chosen" : ""}`}
              onClick={() => setChosen(chosen === event ? null : event)}
            >
              <span className="event-seq numeric">{event.seq}</span>
              <span className={`event-layer ${event.layer}`}>{event.layer}</span>
              <span className="event-type">{event.type}</span>
              <span className="event-brief truncate">{brief(event)}</span>
            </button>
          )}
        />
      )}
      {chosen !== null && view === "log" && (
        <div className="event-detail">
          <div className="row">
            <h2 className="grow">
              {chosen.seq} {chosen.type}
            </h2>
            <span className="faint mono">{new Date(chosen.time * 1000).toISOString()}</span>
            <Button small icon="branch" onClick={() => setForking(true)}>
              {texts.whatIf}
            </Button>
            <IconButton small icon="close" label={texts.close} onClick={() => setChosen(null)} />
          </div>
          <pre className="code-box" tabIndex={0}>
            {plain(JSON.stringify(chosen, null, 2))}
          </pre>
        </div>
      )}
      {chosen !== null && forking && <WhatIf session={session} event={chosen} onClose={() => setForking(false)} />}
    </div>
  );
}

function matches(event: LogEvent, search: string): boolean {
  if (search === "") return true;
  return event.type.includes(search) || JSON.stringify(event.data).toLowerCase().includes(search);
}

/** What an event says in a line: its words, if it has any. */
function brief(event: LogEvent): string {
  const { text: words, partial_json: json, name, path, status } = event.data as unknown as Record<string, unknown>;
  const said = [name, path, status, words, json].filter((text) => typeof text === "string");
  const text = said.length > 0 ? said.join(" ") : JSON.stringify(event.data);
  return plain(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}

function toggled(set: ReadonlySet<Layer>, layer: Layer): ReadonlySet<Layer> {
  const next = new Set(set);
  if (!next.delete(layer)) next.add(layer);
  return next;
}

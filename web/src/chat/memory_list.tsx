/** The facts that a session is given, with the events that they came from: to change, keep, add and remove. */

import type { Fact } from "@heald/client";
import { type FormEvent, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { sessions } from "../wire/api";

export function MemoryList({ session }: { session: string }) {
  const [version, setVersion] = useState(0);
  const fetched = useFetched(`memory ${session} ${version}`, () => sessions.memory(session));
  const [last, setLast] = useState<Fact[] | null>(null); // it stays while the next state is loaded
  const [text, setText] = useState("");
  if (fetched.value !== null && fetched.value.facts !== last) setLast(fetched.value.facts);
  if (fetched.value?.enabled === false || last === null) return null;
  const change = (changing: Promise<unknown>) => {
    changing.then(() => setVersion(version + 1)).catch(showFailure);
  };
  const add = () => {
    change(sessions.addFact(session, { text: text.trim() }).then(() => setText("")));
  };
  return (
    <section className="stack" aria-label="Memory">
      <span>Memory</span>
      {last.length === 0 && <span className="muted">Nothing is remembered yet. Facts that the agent notes are listed here.</span>}
      {last.map((fact) => (
        <FactRow
          key={`${fact.id}-${fact.text}`}
          fact={fact}
          session={session}
          onText={(words) => change(sessions.changeFact(session, fact.id, words))}
          onKeep={() => change(sessions.changeFact(session, fact.id))}
          onRemove={() => change(sessions.removeFact(session, fact.id))}
        />
      ))}
      <div className="row">
        <input className="field grow" aria-label="New fact" placeholder="Remember that …" maxLength={400} value={text} onChange={(event) => setText(event.target.value)} />
        <Button small disabled={text.trim() === ""} onClick={add}>
          Add
        </Button>
      </div>
    </section>
  );
}

interface RowProps {
  fact: Fact;
  session: string;
  onText(text: string): void;
  onKeep(): void;
  onRemove(): void;
}

function FactRow({ fact, session, onText, onKeep, onRemove }: RowProps) {
  const [text, setText] = useState<string | null>(null);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (text !== null && text.trim() !== "" && text !== fact.text) onText(text.trim());
    else setText(null);
  };
  if (text !== null) {
    return (
      <form className="row" onSubmit={save}>
        <input className="field grow" aria-label={`Fact ${fact.id}`} maxLength={400} autoFocus value={text} onChange={(event) => setText(event.target.value)} />
        <Button small type="submit">
          Save fact
        </Button>
      </form>
    );
  }
  return (
    <div className="row">
      <span className="grow">
        {fact.text} <span className="muted">{sourceOf(fact, session)}</span>
      </span>
      {fact.scope === "session" && (
        <Button small look="quiet" title="Keep it for all conversations in this folder" onClick={onKeep}>
          Keep
        </Button>
      )}
      <IconButton icon="edit" label={`Change ${fact.id}`} onClick={() => setText(fact.text)} />
      <IconButton icon="trash" label={`Forget ${fact.id}`} onClick={onRemove} />
    </div>
  );
}

/** What a fact is about, and the events that it came from. */
function sourceOf(fact: Fact, session: string): string {
  const events = (fact.evidence ?? []).map((event) => (event.session === session ? `event ${event.seq}` : `event ${event.seq} of ${event.session}`));
  const scope = fact.scope === "session" ? ["this conversation only"] : [];
  return [fact.about, ...(events.length === 0 ? ["added by a person"] : events), ...scope].join("; ");
}

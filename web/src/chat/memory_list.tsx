/** The facts that a session is given, with the events that they came from: to change, keep, add and remove. */

import type { Fact } from "@heald/client";
import { type FormEvent, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { memoryList as texts } from "../texts/chat";
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
    <section className="stack" aria-label={texts.memory}>
      <span>{texts.memory}</span>
      {last.length === 0 && <span className="muted">{texts.nothingIsRememberedYetFacts}</span>}
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
        <input className="field grow" aria-label={texts.newFact} placeholder={texts.rememberThat} maxLength={400} value={text} onChange={(event) => setText(event.target.value)} />
        <Button small disabled={text.trim() === ""} onClick={add}>
          {texts.add}
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
        <input className="field grow" aria-label={texts.fact(fact.id)} maxLength={400} autoFocus value={text} onChange={(event) => setText(event.target.value)} />
        <Button small type="submit">
          {texts.saveFact}
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
        <Button small look="quiet" title={texts.keepItForAllConversations} onClick={onKeep}>
          {texts.keep}
        </Button>
      )}
      <IconButton icon="edit" label={texts.change(fact.id)} onClick={() => setText(fact.text)} />
      <IconButton icon="trash" label={texts.forget(fact.id)} onClick={onRemove} />
    </div>
  );
}

/** What a fact is about, and the events that it came from. */
function sourceOf(fact: Fact, session: string): string {
  const events = (fact.evidence ?? []).map((event) => (event.session === session ? texts.event(event.seq) : texts.eventOf(event.seq, event.session)));
  const scope = fact.scope === "session" ? [texts.thisConversationOnly] : [];
  return [fact.about, ...(events.length === 0 ? [texts.addedByAPerson] : events), ...scope].join("; ");
}

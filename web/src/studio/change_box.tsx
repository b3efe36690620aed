/** Where a person says what to change in the chosen variant. What is written stays until it is sent. */

import { useEffect, useRef, useState } from "react";
import type { Attachment } from "../chat/attachments";
import { Box } from "../chat/box";
import { IconButton } from "../parts/button";
import { useFollowed } from "../live/hooks";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { tabName, useKeptObject, useKeptText, useKeptValue } from "../parts/kept";
import { showFailure } from "../parts/toasts";
import { isTyping } from "../parts/typing";
import type { Prompt } from "../wire/api";
import { changeOf } from "./prompt";
import { stepsOf } from "./steps";

type Selected = NonNullable<Prompt["selected"]>;

interface Props {
  project: string;
  /** The session of the variant that is changed. */
  session: string;
  selected: Selected | null;
  onClear(): void;
  /** The variant is still being built: what is sent waits for it. */
  busy: boolean;
  away: boolean;
  /** Only small changes are understood where no language model is there. */
  simple: boolean;
  usual: number;
  onSend(prompt: Prompt, variants: number): Promise<void>;
}

interface Queued {
  prompt: Prompt;
  variants: number;
}

export function ChangeBox({ project, session, selected, onClear, busy, away, simple, usual, onSend }: Props) {
  const [text, setText] = useKeptText(`change:${project}`);
  const [attachments, setAttachments] = useKeptObject<Attachment[]>(`change:${project}`, []);
  const [chosen, setChosen] = useKeptValue<number>("change-variants", 0);
  const [tab] = useState(tabName);
  const [queued, setQueued] = useKeptObject<Queued[]>(`queued:${project}:${tab}`, []); // another tab must not send it too
  const [sending, setSending] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const variants = chosen || usual;
  const empty = text.trim() === "" && attachments.length === 0;

  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      box.current?.querySelector("textarea")?.focus();
    };
    document.addEventListener("keydown", focus);
    return () => document.removeEventListener("keydown", focus);
  }, []);

  useEffect(() => {
    if (selected !== null) box.current?.querySelector("textarea")?.focus();
  }, [selected]);

  const next = queued[0];
  useEffect(() => {
    if (busy || away || sending || next === undefined) return;
    setSending(true);
    onSend(next.prompt, next.variants)
      .then(() => setQueued(queued.slice(1)))
      .catch((error: unknown) => {
        setQueued([]);
        setText([next.prompt.text ?? "", text].filter(Boolean).join("\n"));
        showFailure(error);
      })
      .finally(() => setSending(false));
    // What is queued is sent once, when the variant that it waits for is done.
  }, [busy, away, sending, next]);

  const send = async () => {
    if (empty || sending || away) return;
    const prompt = { ...changeOf(text, attachments), ...(selected === null ? {} : { selected }) };
    if (busy) {
      setQueued([...queued, { prompt, variants }]);
      setText("");
      setAttachments([]);
      onClear();
      return;
    }
    setSending(true);
    try {
      await onSend(prompt, variants);
      setText("");
      setAttachments([]);
      onClear();
    } catch (error) {
      showFailure(error);
    } finally {
      setSending(false);
    }
  };
  return (
    <div className="composer" ref={box}>
      {queued.length > 0 && (
        <ul className="queue" aria-label="Waiting changes">
          {queued.map((each, at) => (
            <li key={at} className="row">
              <span className="badge">Next</span>
              <span className="grow truncate" title={each.prompt.text}>
                {each.prompt.text || "A picture"}
              </span>
              <IconButton small icon="close" label="Remove this change" onClick={() => setQueued(queued.filter((other) => other !== each))} />
            </li>
          ))}
        </ul>
      )}
      {selected !== null && (
        <div className="note selected">
          <Icon name="pointer" size={14} />
          <code className="grow truncate">{plain(selected.html.replace(/\s+/g, " ").slice(0, 160))}</code>
          <IconButton small icon="close" label="Forget the selected element" onClick={onClear} />
        </div>
      )}
      {empty && !busy && !away && selected === null && (
        <NextSteps
          session={session}
          onChoose={(step) => {
            setText(step);
            box.current?.querySelector("textarea")?.focus();
          }}
        />
      )}
      <Box
        label="What to change"
        placeholder={placeholderOf(busy, away, simple, selected !== null)}
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        onSubmit={() => void send()}
        submit={
          <IconButton icon="send" look="primary" label={busy ? "Send when this is done (Enter)" : "Send (Enter)"} disabled={empty || sending || away} onClick={() => void send()} />
        }
      >
        <label className="row variants-count">
          <span className="faint">Variants</span>
          <select className="select small" value={variants} onChange={(event) => setChosen(Number(event.target.value))}>
            {[1, 2, 3, 4].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </Box>
    </div>
  );
}

function NextSteps({ session, onChoose }: { session: string; onChoose(step: string): void }) {
  const followed = useFollowed(session);
  const texts = followed?.conversation.transcript.items.filter((each) => each.kind === "text") ?? [];
  const steps = stepsOf(texts.at(-1)?.text ?? "");
  if (steps.length === 0) return null;
  return (
    <ul className="next-steps" aria-label="Suggested next steps">
      {steps.map((step) => (
        <li key={step}>
          <button type="button" className="next-step" title={step} onClick={() => onChoose(step)}>
            <Icon name="bulb" size={12} />
            <span className="truncate">{plain(step)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function placeholderOf(busy: boolean, away: boolean, simple: boolean, selected: boolean): string {
  if (away) return "The server is away; what you write stays here…";
  if (busy) return "Write the next change; it is sent when this is done…";
  if (simple) return selected ? "A colour, “make it bigger” or “remove it”…" : "Make the heading red, or change “Old” to “New”…";
  return selected ? "Say what to change about it…" : "Say what to change…";
}

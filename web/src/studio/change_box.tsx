/** Where a person says what to change in the chosen variant. What is written stays until it is sent. */

import { useEffect, useEffectEvent, useRef, useState, useSyncExternalStore } from "react";
import type { Attachment } from "../chat/attachments";
import { Box } from "../chat/box";
import { IconButton } from "../parts/button";
import { useFollowed } from "../live/hooks";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { useKeptObject, useKeptText, useKeptValue } from "../parts/kept";
import { forCharacter, useKeys } from "../parts/keys";
import { changeBox as pageTexts } from "../texts/project";
import type { ModelView, Prompt, QueuedChangeView, VariantView } from "../wire/api";
import { changeQueueOf, type QueuedChange, type SendChange } from "./change_queue";
import { ServerQueue } from "./server_queue";
import { ModelChoice } from "./model_choice";
import { Price } from "./price";
import { stepsOf } from "./steps";

type Selected = NonNullable<Prompt["selected"]>;
type Usage = VariantView["usage"];

interface Props {
  project: string;
  /** The version that is shown, and changed. */
  version: string;
  /** The session of the variant that is changed. */
  session: string;
  selected: Selected | null;
  /** Another number puts the cursor into the box. */
  focus?: number;
  onClear(): void;
  /** The variant is still being built: what is sent waits for it. */
  busy: boolean;
  away: boolean;
  /** Only small changes are understood where no language model is there. */
  simple: boolean;
  usual: number;
  /** What can be chosen from. */
  models: readonly ModelView[];
  /** The models that make the change where nobody chose one: that of the variant which is changed. */
  inherited: readonly string[];
  chosenModels: readonly string[];
  onModels(names: string[]): void;
  /** The tokens that the variant which is changed took. */
  usage: Usage;
  onSend: SendChange;
  /** The changes that wait on the server, in their order. */
  waiting?: readonly QueuedChangeView[];
  /** Lets a change wait on the server for the variant. Without it changes wait in this tab. */
  onQueue?(change: Parameters<SendChange>): Promise<void>;
}

export function ChangeBox({ project, version, session, selected, focus = 0, onClear, busy, away, simple, usual, models, inherited, chosenModels, onModels, usage, onSend, waiting = [], onQueue }: Props) {
  const [text, setText] = useKeptText(`change:${project}`);
  const [attachments, setAttachments] = useKeptObject<Attachment[]>(`change:${project}`, []);
  const [chosen, setChosen] = useKeptValue<number>("change-variants", 0);
  const [queue] = useState(() => changeQueueOf(project));
  const changes = useSyncExternalStore(queue.outbox.subscribe, () => queue.outbox.entries);
  const box = useRef<HTMLDivElement>(null);
  const variants = chosen || chosenModels.length || usual;
  const builders = chosenModels.length > 0 ? chosenModels : inherited;
  const empty = text.trim() === "" && attachments.length === 0;

  useKeys(forCharacter("/", () => box.current?.querySelector("textarea")?.focus()));

  useEffect(() => {
    if (focus > 0) box.current?.querySelector("textarea")?.focus();
  }, [focus]);

  // The queue sends; it is only told when the version that is shown can be changed.
  const send = useEffectEvent(onSend);
  const queueOnServer = useEffectEvent(async (change: Parameters<SendChange>) => {
    await onQueue?.(change);
    return version;
  });
  const waits = busy || waiting.length > 0;
  const isQueued = onQueue !== undefined;
  useEffect(() => {
    const direct: SendChange = (prompt, count, names) => send(prompt, count, names);
    const queued: SendChange = (...change) => queueOnServer(change);
    queue.allow(version, away ? null : !waits ? direct : isQueued ? queued : null);
    return () => queue.hold();
  }, [queue, changes, version, waits, isQueued, away]);

  const submit = () => {
    if (empty || away) return;
    queue.outbox.add({ text, attachments, selected, variants, models: builders });
    setText("");
    setAttachments([]);
    onClear();
  };
  const putBack = (words: string, files: Attachment[]) => {
    setText((current) => [words, current].filter(Boolean).join("\n"));
    setAttachments((current) => [...files, ...current]);
    box.current?.querySelector("textarea")?.focus();
  };
  const edit = (change: QueuedChange) => {
    if (queue.outbox.remove(change.id) !== null) putBack(change.content.text, change.content.attachments);
  };
  return (
    <div className="composer" ref={box}>
      {changes.length + waiting.length > 0 && (
        <ul className="queue" aria-label={pageTexts.waitingChanges}>
          <ServerQueue project={project} waiting={waiting} away={away} onEdit={putBack} />
          {changes.map((change) => (
            <li key={change.id}>
              <div className="row">
                <span className={`badge ${change.status === "failed" ? "bad" : ""}`}>{STATUS_LABELS[change.status]}</span>
                <span className="grow truncate" title={change.content.text}>
                  {change.content.text || pageTexts.aPicture}
                </span>
                {change.status === "failed" && (
                  <>
                    <IconButton small icon="reload" label={pageTexts.sendThisChangeAgain} disabled={away} onClick={() => queue.outbox.sendAgain(change.id)} />
                    <IconButton small icon="edit" label={pageTexts.editThisChange} onClick={() => edit(change)} />
                  </>
                )}
                {change.status !== "sending" && <IconButton small icon="close" label={pageTexts.removeThisChange} onClick={() => queue.outbox.remove(change.id)} />}
              </div>
              {change.status === "failed" && (
                <p className="queue-reason" role="alert">
                  {change.reason}
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      {selected !== null && (
        <div className="note selected">
          <Icon name="pointer" size={14} />
          <code className="grow truncate">{plain(selected.html.replace(/\s+/g, " ").slice(0, 160))}</code>
          <IconButton small icon="close" label={pageTexts.forgetTheSelectedElement} onClick={onClear} />
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
        label={pageTexts.whatToChange}
        placeholder={placeholderOf(busy, away, simple, selected !== null)}
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        onSubmit={submit}
        submit={
          <IconButton icon="send" look="primary" label={busy ? pageTexts.sendWhenThisIsDone : pageTexts.sendEnter} disabled={empty || away} onClick={submit} />
        }
      >
        <ModelChoice models={models} usual={inherited} chosen={chosenModels} onChange={onModels} automatic={pageTexts.asThisVariant} above />
        <label className="row">
          <span className="faint">{pageTexts.variants}</span>
          <select className="select small" value={variants} onChange={(event) => setChosen(Number(event.target.value))}>
            {[1, 2, 3, 4].map((count) => (
              <option key={count}>{count}</option>
            ))}
          </select>
        </label>
        <Price models={models} names={Array.from({ length: variants }, (_, index) => builders[index % builders.length] ?? "")} usage={usage} />
      </Box>
    </div>
  );
}

const STATUS_LABELS: Record<QueuedChange["status"], string> = { waiting: pageTexts.next, sending: pageTexts.sending, failed: pageTexts.notSent };

function NextSteps({ session, onChoose }: { session: string; onChoose(step: string): void }) {
  const followed = useFollowed(session);
  const texts = followed?.conversation.transcript.items.filter((item) => item.kind === "text") ?? [];
  const steps = stepsOf(texts.at(-1)?.text ?? "");
  if (steps.length === 0) return null;
  return (
    <ul className="next-steps" aria-label={pageTexts.suggestedNextSteps}>
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
  if (away) return pageTexts.theServerIsAwayWhat;
  if (busy) return pageTexts.nextChange;
  if (simple) return selected ? pageTexts.aColourMakeItBigger : pageTexts.converterExample;
  return selected ? pageTexts.sayWhatToChangeAbout : pageTexts.sayWhatToChange;
}

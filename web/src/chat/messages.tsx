/** What people and models said: a message, a text, a thought, a word of the system, an end. */

import { type EndItem, type NoticeItem, type TextItem, textOf, type ThinkingItem, totalOf, type UserItem } from "@heald/client";
import { memo, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { copyWithToast } from "../parts/clipboard";
import { duration, inPlainWords, money, plain, tokens } from "../parts/format";
import { Icon } from "../parts/icon";
import { Picture } from "../parts/picture";
import { LazyProse } from "../parts/lazy_prose";
import { messages as texts } from "../texts/chat";
import { Elapsed } from "./elapsed";
import { Sources } from "./sources";

interface UserProps {
  item: UserItem;
  /** Nothing may be tried again while something runs. */
  idle: boolean;
  onBranch?(item: UserItem, text: string): void;
  onRetry?(item: UserItem): void;
}

export const UserMessage = memo(function UserMessage({ item, idle, onBranch, onRetry }: UserProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const { said } = item.message;
  const text = said ?? textOf(item.message);
  if (draft !== null && onBranch !== undefined) {
    return (
      <form
        className="user-edit"
        onSubmit={(event) => {
          event.preventDefault();
          setDraft(null);
          onBranch(item, draft);
        }}
      >
        <textarea aria-label={texts.editMessage} className="field" rows={3} value={draft} autoFocus onChange={(event) => setDraft(event.target.value)} />
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button small onClick={() => setDraft(null)}>
            {texts.cancel}
          </Button>
          <Button small look="primary" type="submit" disabled={draft.trim() === ""}>
            {texts.branchFromHere}
          </Button>
        </div>
      </form>
    );
  }
  return (
    <div className="user-message">
      <div className="user-actions">
        {onBranch && item.exchange !== null && <IconButton small icon="edit" label={texts.editAndBranch} onClick={() => setDraft(text)} />}
        {onRetry && idle && item.exchange !== null && <IconButton small icon="reload" label={texts.tryAgain} onClick={() => onRetry(item)} />}
      </div>
      <div className="user-bubble">
        {item.steered && <span className="badge">{texts.steered}</span>}
        {said && <p>{said}</p>}
        {item.message.content.map((block, at) => {
          if (block.type === "text") return said == null ? <p key={at}>{block.text}</p> : null;
          if (block.type === "image") return <Picture key={at} block={block} label={texts.attachedPicture(at + 1)} />;
          if (block.type === "file") return <span key={at} className="badge">{block.name ?? block.media_type}</span>;
          return null;
        })}
        {said != null && <Sent text={textOf(item.message)} />}
      </div>
    </div>
  );
});

/** What was made of a person's words, for those who want to know. */
function Sent({ text }: { text: string }) {
  const [open, setOpen] = useState(false);
  return (
    <div className="sent">
      <button type="button" className="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} size={14} />
        {texts.whatTheModelWasSent}
      </button>
      {open && (
        <pre className="code-box" tabIndex={0}>
          {plain(text)}
        </pre>
      )}
    </div>
  );
}

export const Said = memo(function Said({ item, display }: { item: TextItem; display?: ((text: string) => string) | undefined }) {
  return (
    <div className={`said ${item.refusal ? "refusal" : ""}`}>
      {item.refusal && <span className="badge warn">{texts.declined}</span>}
      <LazyProse text={display === undefined ? item.text : display(item.text)} />
      {item.cut && <span className="badge">{texts.stoppedHere}</span>}
      <Sources sources={item.sources} label={texts.sources} />
      <div className="said-actions">
        <IconButton small icon="copy" label={texts.copyThisAnswer} onClick={() => void copyWithToast(item.text)} />
      </div>
    </div>
  );
});

export const Thought = memo(function Thought({ item }: { item: ThinkingItem }) {
  const running = item.ended === null;
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? running;
  const seconds = item.ended === null ? null : Math.max(1, Math.round(item.ended - item.started));
  return (
    <div className="thought">
      <button type="button" className="fold" aria-expanded={open} onClick={() => setChosen(!open)}>
        <Icon name={open ? "down" : "right"} size={14} />
        {running ? (
          <span>
            {texts.thinking} <Elapsed since={item.started} />
          </span>
        ) : (
          <span>{item.started === 0 ? texts.thought : texts.thoughtForS(seconds)}</span>
        )}
      </button>
      {open && <div className="thought-text">{item.text}</div>}
    </div>
  );
});

export const Notice = memo(function Notice({ item }: { item: NoticeItem }) {
  const icon = item.tone === "info" ? "info" : "alert";
  const reason = item.error !== null && item.error.message !== item.text ? `${item.error.message} ` : "";
  return (
    <div className={`note ${item.tone}`} role={item.tone === "error" ? "alert" : undefined}>
      <Icon name={icon} size={14} />
      <span>
        {reason}
        {item.text}
      </span>
    </div>
  );
});

/** The cost of an exchange. Nothing is shown for what is free. */
function Cost({ usd }: { usd: number | null }) {
  if (usd === null) return <span>{texts.costUnknown}</span>;
  return usd > 0 ? <span>{money(usd)}</span> : null;
}

const ENDED = { completed: texts.done, cancelled: texts.stopped, failed: texts.failed, limit: texts.limitReached } as const;

export const Ended = memo(function Ended({ item }: { item: EndItem }) {
  const { status, duration_ms, turns, usage, cost_usd, note, limit } = item.response;
  const used = totalOf(usage);
  return (
    <div className="ended numeric">
      <span className={status === "completed" ? "" : `badge ${status === "failed" ? "bad" : "warn"}`}>
        {ENDED[status]}
        {limit ? ` (${limit})` : ""}
      </span>
      <span>{duration(duration_ms)}</span>
      <span>
        {turns} {turns === 1 ? texts.turn : texts.turns}
      </span>
      {used !== null && used > 0 && <span>{texts.tokens(tokens(used))}</span>}
      <Cost usd={cost_usd ?? null} />
      {note && <span className="ended-note">{inPlainWords(note)}</span>}
    </div>
  );
});

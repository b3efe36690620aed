/** Where a person says what to change in the chosen variant. */

import { useState } from "react";
import type { Attachment } from "../chat/attachments";
import { Box } from "../chat/box";
import { IconButton } from "../parts/button";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { showFailure } from "../parts/toasts";
import type { Prompt } from "../wire/api";
import { promptOf } from "./start";

type Selected = NonNullable<Prompt["selected"]>;

interface Props {
  selected: Selected | null;
  onClear(): void;
  busy: boolean;
  onSend(prompt: Prompt, variants: number): Promise<void>;
}

export function ChangeBox({ selected, onClear, busy, onSend }: Props) {
  const [text, setText] = useState("");
  const [attachments, setAttachments] = useState<Attachment[]>([]);
  const [variants, setVariants] = useState(2);
  const [sending, setSending] = useState(false);
  const empty = text.trim() === "" && attachments.length === 0;
  const send = async () => {
    if (empty || sending || busy) return;
    setSending(true);
    try {
      await onSend({ ...promptOf(text, attachments), text: text.trim(), ...(selected === null ? {} : { selected }) }, variants);
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
    <div className="composer">
      {selected !== null && (
        <div className="note selected">
          <Icon name="pointer" size={14} />
          <code className="grow truncate">{plain(selected.html.replace(/\s+/g, " ").slice(0, 160))}</code>
          <IconButton small icon="close" label="Forget the selected element" onClick={onClear} />
        </div>
      )}
      <Box
        label="What to change"
        placeholder={busy ? "Wait until this variant is done…" : selected === null ? "Say what to change…" : "Say what to change about it…"}
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        onSubmit={() => void send()}
        submit={<IconButton icon="send" look="primary" label="Send (Enter)" disabled={empty || sending || busy} onClick={() => void send()} />}
      >
        <label className="row variants-count">
          <span className="faint">Variants</span>
          <select className="select small" value={variants} onChange={(event) => setVariants(Number(event.target.value))}>
            {[1, 2, 3, 4].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      </Box>
    </div>
  );
}

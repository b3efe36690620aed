/** Asks for a line, and for more words where there is a second field. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { textDialog as texts } from "../texts/repository";

interface Props {
  title: string;
  label: string;
  initial: string;
  /** The label of a second field; without it there is none. */
  more?: string;
  action: string;
  onSubmit(text: string, more: string): void;
  onClose(): void;
}

export function TextDialog({ title, label, initial, more, action, onSubmit, onClose }: Props) {
  const [text, setText] = useState(initial);
  const [rest, setRest] = useState("");
  const submit = () => {
    if (text.trim() === "") return;
    onClose();
    onSubmit(text.trim(), rest.trim());
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <label className="stack field-label">
        {label}
        <input className="field" value={text} autoFocus onChange={(event) => setText(event.target.value)} onKeyDown={(event) => event.key === "Enter" && submit()} />
      </label>
      {more !== undefined && (
        <label className="stack field-label">
          {more}
          <textarea className="field" rows={5} value={rest} onChange={(event) => setRest(event.target.value)} />
        </label>
      )}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button look="primary" disabled={text.trim() === ""} onClick={submit}>
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

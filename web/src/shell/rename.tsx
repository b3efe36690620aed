import { useState } from "react";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { rename as texts } from "../texts/shell";

export function Rename({ title, onRename, onClose }: { title: string; onRename(title: string): void; onClose(): void }) {
  const [text, setText] = useState(title);
  return (
    <Dialog title={texts.rename} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          onRename(text.trim());
        }}
      >
        <input className="field" aria-label={texts.title} value={text} autoFocus onChange={(event) => setText(event.target.value)} />
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button look="primary" type="submit" disabled={text.trim() === ""}>
            {texts.rename}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

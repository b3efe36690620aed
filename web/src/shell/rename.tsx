import { useState } from "react";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";

export function Rename({ title, onRename, onClose }: { title: string; onRename(title: string): void; onClose(): void }) {
  const [text, setText] = useState(title);
  return (
    <Dialog title="Rename" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          onRename(text.trim());
        }}
      >
        <input className="field" aria-label="Title" value={text} autoFocus onChange={(event) => setText(event.target.value)} />
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={text.trim() === ""}>
            Rename
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

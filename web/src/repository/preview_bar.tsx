/** The bar over the preview of a dev server: the address of its page, its width, and the way to stop it. */

import { useState } from "react";
import { IconButton } from "../parts/button";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { Segmented } from "../parts/segmented";
import { showToast } from "../parts/toasts";
import { addressIn } from "./preview_address";

interface Props {
  preview: string;
  /** The path that the page is at. */
  path: string;
  width: number | null;
  onWidth(width: number | null): void;
  /** Loads an address of the preview. */
  onOpen(address: string): void;
  onStop(): void;
}

export function PreviewBar({ preview, path, width, onWidth, onOpen, onStop }: Props) {
  const [draft, setDraft] = useState<string | null>(null);
  const open = () => {
    const address = addressIn(preview, draft ?? path);
    setDraft(null);
    if (address === null) showToast("The preview shows pages of the dev server only; enter a path such as /about.", "error");
    else onOpen(address);
  };
  return (
    <div className="row preview-bar">
      <IconButton small icon="reload" label="Reload the preview" onClick={() => onOpen(addressIn(preview, path) ?? preview)} />
      <form
        className="grow"
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <input
          className="field small"
          aria-label="Path of the page"
          spellCheck={false}
          value={draft ?? (plain(path) || "/")}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={() => setDraft(null)}
        />
      </form>
      <Segmented
        label="Width"
        value={String(width ?? "full")}
        onChange={(next) => onWidth(next === "full" ? null : Number(next))}
        choices={[
          { value: "full", label: "Full width", icon: "desktop", bare: true },
          { value: "768", label: "768 pixels", icon: "tablet", bare: true },
          { value: "390", label: "390 pixels", icon: "mobile", bare: true },
        ]}
      />
      <a className="button icon small quiet" href={preview} target="_blank" rel="noopener noreferrer" aria-label="Open in a new tab" data-tip="Open in a new tab">
        <Icon name="open" size={14} />
      </a>
      <IconButton small icon="stop" label="Stop the dev server" onClick={onStop} />
    </div>
  );
}

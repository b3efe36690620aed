/** The bar over the preview of a dev server: the address of its page, its width, and the way to stop it. */

import { useState } from "react";
import { IconButton } from "../parts/button";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { Segmented } from "../parts/segmented";
import { showToast } from "../parts/toasts";
import { previewBar as texts } from "../texts/repository";
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
    if (address === null) showToast(texts.ownPagesOnly, "error");
    else onOpen(address);
  };
  return (
    <div className="row preview-bar">
      <IconButton small icon="reload" label={texts.reloadThePreview} onClick={() => onOpen(addressIn(preview, path) ?? preview)} />
      <form
        className="grow"
        onSubmit={(event) => {
          event.preventDefault();
          open();
        }}
      >
        <input
          className="field small"
          aria-label={texts.pathOfThePage}
          spellCheck={false}
          value={draft ?? (plain(path) || "/")}
          onChange={(event) => setDraft(event.target.value)}
          onBlur={() => setDraft(null)}
        />
      </form>
      <Segmented
        label={texts.width}
        value={String(width ?? "full")}
        onChange={(next) => onWidth(next === "full" ? null : Number(next))}
        choices={[
          { value: "full", label: texts.fullWidth, icon: "desktop", bare: true },
          { value: "768", label: texts.px768Pixels, icon: "tablet", bare: true },
          { value: "390", label: texts.px390Pixels, icon: "mobile", bare: true },
        ]}
      />
      <a className="button icon small quiet" href={preview} target="_blank" rel="noopener noreferrer" aria-label={texts.openInANewTab} data-tip={texts.openInANewTab}>
        <Icon name="open" size={14} />
      </a>
      <IconButton small icon="stop" label={texts.stopTheDevServer} onClick={onStop} />
    </div>
  );
}

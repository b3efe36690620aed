/** Chooses what a design system is read from: an address, a folder of the server, a folder or files of this machine. */

import "../../style/design.css";
import type { DesignSourceBody, DesignView } from "@heald/client";
import { type SubmitEvent, useRef, useState } from "react";
import { Button } from "../../parts/button";
import { showFailure, showToast } from "../../parts/toasts";
import { useFetched } from "../../shell/fetched";
import { workspaces } from "../../wire/api";
import { designs } from "./design_calls";
import { designFiles } from "./design_files";

interface Props {
  away: boolean;
  onRead(design: DesignView): void;
}

export function DesignSource({ away, onRead }: Props) {
  const [url, setUrl] = useState("");
  const [busy, setBusy] = useState(false);
  const folders = useFetched("workspaces", workspaces).value?.workspaces ?? [];
  const filePicker = useRef<HTMLInputElement>(null);
  const folderPicker = useRef<HTMLInputElement>(null);
  const isOff = away || busy;
  const read = async (source: () => Promise<DesignSourceBody> | DesignSourceBody) => {
    setBusy(true);
    try {
      onRead(await designs.read(await source()));
    } catch (error) {
      showFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const upload = (list: FileList | null) => {
    const chosen = [...(list ?? [])];
    if (chosen.length === 0) return;
    void read(async () => {
      const files = await designFiles(chosen);
      if (Object.keys(files).length === 0) throw new Error("None of the files describes a design; choose design.md, style sheets, a Tailwind configuration, design tokens or components.");
      return { files, name: chosen[0]?.webkitRelativePath.split("/")[0] ?? "" };
    });
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (url.trim() === "") showToast("Enter the address of a page first.");
    else void read(() => ({ url: url.trim() }));
  };
  return (
    <div className="design-source row wrap" role="group" aria-label="Read a design system">
      <form className="row grow" onSubmit={submit}>
        <input className="field" type="text" inputMode="url" aria-label="Address of a page" placeholder="https://example.org" value={url} onChange={(event) => setUrl(event.target.value)} />
        <Button type="submit" icon="link" disabled={isOff}>
          Read
        </Button>
      </form>
      {folders.length > 0 && (
        <select className="select" aria-label="Folder of the server" value="" disabled={isOff} onChange={(event) => void read(() => ({ repository: event.target.value }))}>
          <option value="">Repository…</option>
          {folders.map((folder) => (
            <option key={folder}>{folder}</option>
          ))}
        </select>
      )}
      <input ref={filePicker} type="file" multiple hidden aria-label="Files of a design system" onChange={(event) => upload(event.target.files)} />
      <input ref={folderPicker} type="file" hidden aria-label="Folder of a design system" {...{ webkitdirectory: "" }} onChange={(event) => upload(event.target.files)} />
      <Button icon="file" disabled={isOff} onClick={() => filePicker.current?.click()}>
        Files
      </Button>
      <Button icon="folder" disabled={isOff} onClick={() => folderPicker.current?.click()}>
        Folder
      </Button>
      {busy && <span className="spinner" role="status" aria-label="Reading" />}
    </div>
  );
}

/** Chooses what a design system is read from: an address, a folder of the server, a folder or files of this machine. */

import "../../style/design.css";
import type { DesignSourceBody, DesignView } from "@heald/client";
import { type SubmitEvent, useRef, useState } from "react";
import { Button } from "../../parts/button";
import { showFailure, showToast } from "../../parts/toasts";
import { useFetched } from "../../shell/fetched";
import { designSource as texts } from "../../texts/design";
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
      if (Object.keys(files).length === 0) throw new Error(texts.noneOfTheFilesDescribes);
      return { files, name: chosen[0]?.webkitRelativePath.split("/")[0] ?? "" };
    });
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (url.trim() === "") showToast(texts.addressMissing);
    else void read(() => ({ url: url.trim() }));
  };
  return (
    <div className="design-source row wrap" role="group" aria-label={texts.readADesignSystem}>
      <form className="row grow" onSubmit={submit}>
        <input className="field" type="text" inputMode="url" aria-label={texts.addressOfAPage} placeholder={texts.httpsExampleOrg} value={url} onChange={(event) => setUrl(event.target.value)} />
        <Button type="submit" icon="link" disabled={isOff}>
          {texts.read}
        </Button>
      </form>
      {folders.length > 0 && (
        <select className="select" aria-label={texts.folderOfTheServer} value="" disabled={isOff} onChange={(event) => void read(() => ({ repository: event.target.value }))}>
          <option value="">{texts.repository}</option>
          {folders.map((folder) => (
            <option key={folder}>{folder}</option>
          ))}
        </select>
      )}
      <input ref={filePicker} type="file" multiple hidden aria-label={texts.filesOfADesignSystem} onChange={(event) => upload(event.target.files)} />
      <input ref={folderPicker} type="file" hidden aria-label={texts.folderOfADesignSystem} {...{ webkitdirectory: "" }} onChange={(event) => upload(event.target.files)} />
      <Button icon="file" disabled={isOff} onClick={() => filePicker.current?.click()}>
        {texts.files}
      </Button>
      <Button icon="folder" disabled={isOff} onClick={() => folderPicker.current?.click()}>
        {texts.folder}
      </Button>
      {busy && <span className="spinner" role="status" aria-label={texts.reading} />}
    </div>
  );
}

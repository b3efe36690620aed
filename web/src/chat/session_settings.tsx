/** What a session works with: title, model, permissions. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { sessionSettings as texts } from "../texts/chat";
import { models, type Permissions, sessions, type SessionView } from "../wire/api";
import { MemoryList } from "./memory_list";

export const MODES = [
  { value: "read-only", label: texts.readOnlyChangesNothing },
  { value: "ask", label: texts.askBeforeEveryChange },
  { value: "inside", label: texts.askOutsideFolder },
  { value: "auto", label: texts.workWithoutAsking },
] as const;

interface Props {
  view: SessionView;
  onClose(): void;
  onChanged(view: SessionView): void;
}

export function SessionSettings({ view, onClose, onChanged }: Props) {
  const catalogue = useFetched("models", models);
  const [title, setTitle] = useState(view.title);
  const [model, setModel] = useState(view.settings.model ?? "");
  const [permissions, setPermissions] = useState(view.settings.permissions ?? "ask");
  const names = catalogue.value?.models.map((model) => model.name) ?? [];
  const fixed = catalogue.value?.fixed === true;
  const save = () => {
    sessions
      .change(view.id, fixed ? { title } : { title, permissions, ...(model === "" ? {} : { model }) })
      .then((changed) => {
        onChanged(changed);
        onClose();
      })
      .catch(showFailure);
  };
  return (
    <Dialog title={texts.sessionSettings} onClose={onClose}>
      <label className="stack">
        <span>{texts.title}</span>
        <input className="field" value={title} onChange={(event) => setTitle(event.target.value)} />
      </label>
      {!fixed && (
        <>
          <label className="stack">
            <span>{texts.model}</span>
            <select className="select" value={model} onChange={(event) => setModel(event.target.value)}>
              {(names.includes(model) ? names : [model, ...names]).map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label className="stack">
            <span>{texts.permissions}</span>
            <select className="select" value={permissions} onChange={(event) => setPermissions(event.target.value as Permissions)}>
              {MODES.map((mode) => (
                <option key={mode.value} value={mode.value}>
                  {mode.label}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      {view.settings.workspace && <MemoryList session={view.id} />}
      <div className="row" style={{ justifyContent: "flex-end" }}>
        <Button onClick={onClose}>{texts.cancel}</Button>
        <Button look="primary" onClick={save}>
          {texts.save}
        </Button>
      </div>
    </Dialog>
  );
}

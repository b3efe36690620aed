/** The pages of a project: the one that is shown, and what can be done with them. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Confirm, Dialog } from "../parts/dialog";
import { type Action, Menu } from "../parts/menu";
import { pages as texts } from "../texts/project";
import type { VariantView } from "../wire/api";

type SitePage = VariantView["pages"][number];

/** A change of the pages. With `text` a model writes the new page; otherwise it gets the frame of the one that is shown. */
export type PageEdit =
  | { action: "add"; path: string; name: string; text: string }
  | { action: "rename"; path: string; name: string }
  | { action: "delete"; path: string };

interface Props {
  pages: readonly SitePage[];
  /** The path of the page that is shown. */
  at: string;
  /** Pages cannot be changed now: the variant is being built, or the server is away. */
  disabled: boolean;
  /** Whether a model can write a page from words. */
  words: boolean;
  /** A page that a link leads to and that is not there yet. */
  missing: string;
  onGo(path: string): void;
  onEdit(edit: PageEdit): Promise<void>;
}

type Open = "add" | "rename" | "delete" | null;

export function Pages({ pages, at, disabled, words, missing, onGo, onEdit }: Props) {
  const [open, setOpen] = useState<Open>(null);
  const first = pages[0]?.path ?? "";
  const page = pages.find((page) => page.path === at);
  const isOther = page !== undefined && at !== first;
  const actions: Action[] = [{ label: texts.addAPage, icon: "plus", run: () => setOpen("add") }];
  if (isOther) actions.push({ label: texts.rename(at), icon: "edit", run: () => setOpen("rename") }, { label: texts.delete(at), icon: "trash", danger: true, run: () => setOpen("delete") });
  const close = () => setOpen(null);
  return (
    <div className="row page-list">
      {(pages.length > 1 || missing !== "") && (
        <select className="select small" aria-label={texts.page} title={texts.thePageThatIsShown} value={page === undefined ? "" : at} onChange={(event) => onGo(event.target.value)}>
          {page === undefined && <option value="">{missing || at}</option>}
          {pages.map((page) => (
            <option key={page.path} value={page.path}>
              {page.path}
            </option>
          ))}
        </select>
      )}
      {missing !== "" && !disabled && (
        <Button small icon="plus" onClick={() => setOpen("add")}>
          {texts.addThisPage}
        </Button>
      )}
      {!disabled && <Menu icon="file" label={texts.pages} actions={actions} />}
      {open === "add" && <Add name={nameOf(missing)} words={words} onClose={close} onAdd={(name, text) => onEdit({ action: "add", path: isOther ? at : first, name, text })} />}
      {open === "rename" && <Named title={texts.renameThePage} name={nameOf(at)} act={texts.renameLabel} onClose={close} onDone={(name) => onEdit({ action: "rename", path: at, name })} />}
      {open === "delete" && (
        <Confirm
          title={texts.deleteThePage}
          text={texts.pageRemoved(at)}
          action={texts.deleteLabel}
          onClose={close}
          onConfirm={() => void onEdit({ action: "delete", path: at })}
        />
      )}
    </div>
  );
}

function nameOf(path: string): string {
  return (path.split("/").at(-1) ?? "").replace(/\.html?$/i, "");
}

function Add({ name, words, onAdd, onClose }: { name: string; words: boolean; onAdd(name: string, text: string): Promise<void>; onClose(): void }) {
  const [text, setText] = useState("");
  const hint = words && text.trim() !== "" ? texts.pageByModel : texts.pageFromShown;
  return (
    <Named title={texts.addAPageLabel} name={name} act={texts.add} onClose={onClose} onDone={(named) => onAdd(named, text.trim())}>
      {words && (
        <textarea className="field" rows={3} aria-label={texts.whatThePageShows} placeholder={texts.whatItShowsAModel} value={text} onChange={(event) => setText(event.target.value)} />
      )}
      <p className="faint">{hint}</p>
    </Named>
  );
}

interface NamedProps {
  title: string;
  name: string;
  act: string;
  onDone(name: string): Promise<void>;
  onClose(): void;
  children?: React.ReactNode;
}

function Named({ title, name, act, onDone, onClose, children }: NamedProps) {
  const [text, setText] = useState(name);
  const [busy, setBusy] = useState(false);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (busy || text.trim() === "") return;
          setBusy(true);
          onDone(text.trim())
            .then(onClose)
            .catch(() => setBusy(false));
        }}
      >
        <input className="field" aria-label={texts.nameOfThePage} placeholder={texts.aboutUs} value={text} autoFocus onChange={(event) => setText(event.target.value)} />
        {children}
        <div className="row" style={{ justifyContent: "flex-end" }}>
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button look="primary" type="submit" disabled={busy || text.trim() === ""}>
            {act}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Design systems: rules that every variant of a project gets. They are added from a text or a file, and removed. */

import { useRef, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { showFailure } from "../parts/toasts";
import { designSystems } from "../studio/calls";
import { useFetched } from "./fetched";

export function DesignSystems() {
  const listed = useFetched("design-systems", designSystems.list);
  const [name, setName] = useState("");
  const [content, setContent] = useState("");
  const picker = useRef<HTMLInputElement>(null);
  const add = () => {
    designSystems
      .add(name.trim(), content)
      .then(() => {
        setName("");
        setContent("");
        listed.again();
      })
      .catch(showFailure);
  };
  const load = async (file: File | undefined) => {
    if (file === undefined) return;
    setContent(await file.text());
    if (name === "") setName(file.name.replace(/\.\w+$/, ""));
  };
  return (
    <section className="card stack" aria-labelledby="design-systems">
      <h2 id="design-systems">Design systems</h2>
      <p className="muted">Colours, fonts, spacing and components in words, CSS variables or JSON. The start page offers them.</p>
      {listed.value !== null && listed.value.length > 0 && (
        <ul className="plain-list">
          {listed.value.map((each) => (
            <li key={each.id} className="row">
              <span className="grow truncate">{each.name}</span>
              <span className="faint">{each.content.length.toLocaleString()} characters</span>
              <IconButton small icon="trash" label={`Delete ${each.name}`} onClick={() => void designSystems.remove(each.id).then(listed.again).catch(showFailure)} />
            </li>
          ))}
        </ul>
      )}
      <input className="field" aria-label="Name of the design system" placeholder="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <textarea className="field" rows={4} aria-label="Rules of the design system" placeholder="--brand: #0f766e; headings in Inter 600; …" value={content} onChange={(event) => setContent(event.target.value)} />
      <div className="row">
        <input ref={picker} type="file" hidden aria-label="File of the design system" accept=".css,.json,.md,.txt" onChange={(event) => void load(event.target.files?.[0])} />
        <Button icon="file" onClick={() => picker.current?.click()}>
          From a file
        </Button>
        <Button look="primary" disabled={content.trim() === ""} onClick={add}>
          Add
        </Button>
      </div>
    </section>
  );
}

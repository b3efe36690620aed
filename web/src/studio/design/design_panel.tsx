/** The design system of a project: read, corrected, stored for every variant; and how far the page keeps to it. */

import { useState } from "react";
import { Button } from "../../parts/button";
import { useKeptValue } from "../../parts/kept";
import { showFailure, showToast } from "../../parts/toasts";
import { useFetched } from "../../shell/fetched";
import { designPanel as texts } from "../../texts/design";
import { type Base, isRunning, type ProjectView, type VariantView } from "../../wire/api";
import { download } from "../../wire/rest";
import { designs } from "./design_calls";
import { designLines } from "./design_lines";
import { DesignScorePanel } from "./design_score";
import { DesignSource } from "./design_source";
import { DesignTokens } from "./design_tokens";

interface Props {
  project: ProjectView;
  base: Base;
  variant: VariantView;
  /** The page that is shown; empty for the first one. */
  page: string;
  away: boolean;
  onChanged(): void;
}

export function DesignPanel({ project, base, variant, page, away, onChanged }: Props) {
  const action = `${project.undo?.id ?? ""} ${project.redo?.id ?? ""}`; // a change of the design is an action of the project
  const stored = useFetched(`design ${project.id} ${action}`, () => designs.of(project.id));
  const [{ text: draft }, setKept] = useKeptValue<{ text: string | null }>(`design:${project.id}`, { text: null });
  const setDraft = (changed: string | null) => setKept({ text: changed });
  const [busy, setBusy] = useState(false);
  const [last, setLast] = useState("");
  const current = stored.value?.text ?? last; // it stays while it is fetched anew
  if (stored.value !== null && stored.value.text !== last) setLast(stored.value.text);
  const text = draft ?? current;
  const isChanged = draft !== null && draft.trim() !== current.trim();
  const save = async () => {
    setBusy(true);
    try {
      const saved = await designs.change(project.id, text);
      stored.set(saved);
      setDraft(null);
      showToast(texts.savedEveryBuildAndChange);
      onChanged();
    } catch (error) {
      showFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const isScored = !isRunning(variant) && variant.entry !== null && current.trim() !== "";
  return (
    <div className="design" tabIndex={0} role="region" aria-label={texts.designSystem}>
      <section className="stack design-system" aria-label={texts.designSystemOfTheProject}>
        <div className="row wrap">
          <h2 className="grow truncate">{stored.value?.name || texts.designSystem}</h2>
          <Button small icon="download" disabled={current === ""} onClick={() => download(designs.file(project.id), "design.md")}>
            {texts.designMd}
          </Button>
        </div>
        <p className="muted">{texts.coloursFontsSizesAndComponents}</p>
        <DesignSource away={away || busy} onRead={(design) => setDraft(design.text)} />
        {isChanged && (
          <div className="row wrap design-save" role="group" aria-label={texts.changes}>
            <span className="grow">{texts.notSavedYet}</span>
            <Button onClick={() => setDraft(null)}>{texts.discard}</Button>
            <Button look="primary" disabled={busy || away} onClick={() => void save()}>
              {texts.save}
            </Button>
          </div>
        )}
        <DesignTokens text={text} disabled={away || busy} onText={setDraft} />
        <details className="design-text" open={text !== "" && designLines(text).length === 0}>
          <summary>{texts.textOfDesignMd}</summary>
          <textarea className="field mono" rows={16} aria-label={texts.textOfDesignMd} value={text} disabled={away || busy} onChange={(event) => setDraft(event.target.value)} />
        </details>
      </section>
      <section className="stack design-score" aria-label={texts.scoreOfThePage}>
        <h2>{texts.thisPage}</h2>
        <DesignScorePanel project={project.id} base={base} page={page} state={isScored ? `${variant.session} ${current}` : null} />
      </section>
    </div>
  );
}

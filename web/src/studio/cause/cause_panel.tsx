/** Where the selected element comes from: its place in the screenshot, its lines, and who wrote them on which request. */

import "../../style/cause.css";
import { Button, IconButton } from "../../parts/button";
import { Icon } from "../../parts/icon";
import { useFetched } from "../../shell/fetched";
import { causePanel as texts } from "../../texts/cause";
import { type Base, type ModelView, projects } from "../../wire/api";
import { labelOf } from "../model_choice";
import { CauseCode } from "./cause_code";
import { CausePicture } from "./cause_picture";
import { CauseWriting } from "./cause_writing";

interface Props {
  project: string;
  base: Base;
  path: string;
  /** The page of the project that shows it; empty for the first one. */
  page: string;
  models: readonly ModelView[];
  selecting: boolean;
  onSelecting(on: boolean): void;
  /** Go back to the fields that change the element. */
  onBack(): void;
  onClose(): void;
}

export function CausePanel({ project, base, path, page, models, selecting, onSelecting, onBack, onClose }: Props) {
  const fetched = useFetched(`cause ${project} ${base.version}.${base.variant} ${page} ${path}`, () => projects.cause(project, base, path, page));
  const cause = fetched.value;
  return (
    <aside className="cause-panel" aria-label={texts.whereItComesFrom} onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <div className="row">
        <strong className="grow truncate">{cause === null ? texts.whereItComesFrom : texts.whereComesFrom(cause.tag)}</strong>
        <IconButton small icon="pointer" label={texts.selectAnotherElement} aria-pressed={selecting} onClick={() => onSelecting(!selecting)} />
        <IconButton small icon="close" label={texts.closeThisPanel} onClick={onClose} />
      </div>
      <Button small icon="edit" onClick={onBack}>
        {texts.changeItByHand}
      </Button>
      {fetched.loading && (
        <p className="row muted" role="status">
          <span className="spinner" aria-hidden="true" /> {texts.searching}
        </p>
      )}
      {fetched.error !== null && (
        <p className="note warning" role="alert">
          <Icon name="alert" size={14} /> <span>{fetched.error.message}</span>
        </p>
      )}
      {cause !== null && (
        <>
          <h2>{texts.inTheScreenshot}</h2>
          {cause.place === null ? <p className="muted">{texts.thisProjectHasNoScreenshot}</p> : <CausePicture key={path} project={project} version={base.version} place={cause.place} />}
          <h2>{texts.writtenBy}</h2>
          {cause.writings.length === 0 && <p className="muted">{texts.aScriptCreatesThisElement}</p>}
          <ol className="cause-writings">
            {cause.writings.map((writing, at) => (
              <CauseWriting key={`${writing.session} ${writing.seq} ${writing.version}`} project={project} number={at + 1} writing={writing} model={writing.model === "" ? "" : labelOf(models, writing.model)} />
            ))}
          </ol>
          {cause.lines.length > 0 && <h2>{texts.sourceLines}</h2>}
          {cause.lines.map((part) => (
            <CauseCode key={`${part.file} ${part.lines[0]?.number ?? 0}`} project={project} version={base.version} part={part} />
          ))}
        </>
      )}
    </aside>
  );
}

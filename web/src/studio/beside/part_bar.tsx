/** Shows which parts are selected, and copies the one to the other. */

import { Button } from "../../parts/button";
import { Segmented } from "../../parts/segmented";
import { partBar as texts } from "../../texts/beside";
import { nameOf, type Part, pathAround, type PartPlace } from "./part";

interface Props {
  source: Part | null;
  target: Part | null;
  place: PartPlace;
  busy: boolean;
  /** Selects the element that contains a selected one. */
  onParent(part: Part): void;
  onPlace(place: PartPlace): void;
  onPut(): void;
  /** Sends it to a model; null where there is none. */
  onAsk: (() => void) | null;
  onCancel(): void;
}

export function PartBar({ source, target, place, busy, onParent, onPlace, onPut, onAsk, onCancel }: Props) {
  const wordsOf = (part: Part) => texts.partOf(nameOf(part), part.variant + 1);
  const last = target ?? source;
  return (
    <div className="part-bar row wrap" role="group" aria-label={texts.copyAPart}>
      <span className="grow" role="status">
        {source === null && texts.clickThePartToCopy}
        {source !== null && target === null && texts.chooseDestination(wordsOf(source))}
        {source !== null && target !== null && `${wordsOf(source)} → ${wordsOf(target)}`}
      </span>
      {last !== null && (
        <Button small disabled={pathAround(last) === null} title={texts.selectTheElementThatContains} onClick={() => onParent(last)}>
          {texts.selectParent}
        </Button>
      )}
      {source !== null && target !== null && (
        <>
          <Segmented
            label={texts.destination}
            value={place}
            onChange={onPlace}
            choices={[
              { value: "replace", label: texts.replace },
              { value: "before", label: texts.before },
              { value: "after", label: texts.after },
            ]}
          />
          <Button look="primary" small disabled={busy} onClick={onPut}>
            {texts.copy}
          </Button>
          {onAsk !== null && (
            <Button small disabled={busy} onClick={onAsk}>
              {texts.askTheModel}
            </Button>
          )}
        </>
      )}
      <Button small onClick={onCancel}>
        {texts.cancel}
      </Button>
    </div>
  );
}

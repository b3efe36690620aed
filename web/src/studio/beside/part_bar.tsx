/** Shows which parts are selected, and copies the one to the other. */

import { Button } from "../../parts/button";
import { Segmented } from "../../parts/segmented";
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
  const wordsOf = (part: Part) => `<${nameOf(part)}> of ${part.variant + 1}`;
  const last = target ?? source;
  return (
    <div className="part-bar row wrap" role="group" aria-label="Copy a part">
      <span className="grow" role="status">
        {source === null && "Click the part to copy, in any variant."}
        {source !== null && target === null && `${wordsOf(source)} selected. Click its destination in another variant.`}
        {source !== null && target !== null && `${wordsOf(source)} → ${wordsOf(target)}`}
      </span>
      {last !== null && (
        <Button small disabled={pathAround(last) === null} title="Select the element that contains it" onClick={() => onParent(last)}>
          Select parent
        </Button>
      )}
      {source !== null && target !== null && (
        <>
          <Segmented
            label="Destination"
            value={place}
            onChange={onPlace}
            choices={[
              { value: "replace", label: "Replace" },
              { value: "before", label: "Before" },
              { value: "after", label: "After" },
            ]}
          />
          <Button look="primary" small disabled={busy} onClick={onPut}>
            Copy
          </Button>
          {onAsk !== null && (
            <Button small disabled={busy} onClick={onAsk}>
              Ask the model
            </Button>
          )}
        </>
      )}
      <Button small onClick={onCancel}>
        Cancel
      </Button>
    </div>
  );
}

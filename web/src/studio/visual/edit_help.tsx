/** Says how elements are edited, in the place of the panel: the page does not move when the panel comes. */

import { editHelp as texts } from "../../texts/visual";

const WAYS: readonly [string, string][] = [
  [texts.click, texts.selectAnElement],
  [texts.shiftAndClick, texts.selectSeveral],
  [texts.drag, texts.moveTheSelectedElement],
  [texts.dragAHandle, texts.changeSpacing],
  [texts.doubleClick, texts.writeIntoAText],
  ["/", texts.describeTheChangeInWords],
  [texts.layers, texts.chooseFromTree],
];

export function EditHelp() {
  return (
    <section className="element-panel edit-help" aria-label={texts.howToEdit}>
      <strong>{texts.editInThePage}</strong>
      <dl>
        {WAYS.map(([way, purpose]) => (
          <div key={way}>
            <dt>{way}</dt>
            <dd>{purpose}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Says how elements are edited, in the place of the panel: the page does not move when the panel comes. */

const WAYS: readonly [string, string][] = [
  ["Click", "select an element"],
  ["Shift and click", "select several"],
  ["Drag", "move the selected element"],
  ["Drag a handle", "change its padding (green) or margin (orange)"],
  ["Double-click", "write into a text"],
  ["/", "describe the change in words"],
  ["Layers", "choose from the tree of elements"],
];

export function EditHelp() {
  return (
    <section className="element-panel edit-help" aria-label="How to edit">
      <strong>Edit in the page</strong>
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

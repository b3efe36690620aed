/** The keys of the page in a dialog, and the way to the tour. The key ? opens it. */

import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { ShortcutList } from "./shortcut_list";

export function KeysHelp({ onTour, onClose }: { onTour(): void; onClose(): void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <ShortcutList />
      <p className="faint">Keys without Ctrl work while no text field has the focus. On a Mac, ⌘ works in place of Ctrl.</p>
      <div className="row">
        <Button look="quiet" onClick={onTour}>
          Show the tour
        </Button>
        <span className="grow" />
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

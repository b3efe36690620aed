/** The keys of the page in a dialog, and the way to the tour. The key ? opens it. */

import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { keysHelp as texts } from "../texts/shell";
import { ShortcutList } from "./shortcut_list";

export function KeysHelp({ onTour, onClose }: { onTour(): void; onClose(): void }) {
  return (
    <Dialog title={texts.keyboardShortcuts} onClose={onClose}>
      <ShortcutList />
      <p className="faint">{texts.keysHint}</p>
      <div className="row">
        <Button look="quiet" onClick={onTour}>
          {texts.showTheTour}
        </Button>
        <span className="grow" />
        <Button onClick={onClose}>{texts.close}</Button>
      </div>
    </Dialog>
  );
}

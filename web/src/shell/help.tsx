/** Help by the key ?, the command palette and the menu: the keys of the page, and the tour. */

import { useEffect } from "react";
import { Flag, useFlag } from "../parts/flag";
import { help as texts } from "../texts/shell";
import { useCommands } from "./commands";
import { showTour } from "./first_visit";
import { KeysHelp } from "./keys_help";
import { go } from "./route";

const help = new Flag();

export function showHelp(): void {
  help.set(true);
}

function startTour(): void {
  help.set(false);
  go();
  showTour();
}

export function Help() {
  const open = useFlag(help);
  useEffect(() => {
    const close = () => help.set(false); // it would lie over another view
    addEventListener("hashchange", close);
    return () => removeEventListener("hashchange", close);
  }, []);
  useCommands([
    { name: texts.keyboardShortcuts, icon: "question", key: "?", run: showHelp },
    { name: texts.showTheTour, icon: "info", run: startTour },
  ]);
  return open ? <KeysHelp onTour={startTour} onClose={() => help.set(false)} /> : null;
}

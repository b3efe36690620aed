/** Keys of the whole page, named as `tinykeys` names them: `Escape`, `Shift+u`, `Control+k`. */

import { useEffectEvent, useLayoutEffect } from "react";
import { tinykeys } from "tinykeys";
import { isTyping } from "./typing";

/** Runs a key. False leaves what the browser does with it. */
export type KeyHandler = (event: KeyboardEvent) => void | false;

interface Options {
  isActive?: boolean;
  /** Also while something is being written. */
  typing?: boolean;
  /** Also while a dialog is open. */
  dialogs?: boolean;
  /** Also if something else has used the key. */
  handled?: boolean;
}

/** Run the handlers of keys as long as the component is there. */
export function useKeys(bindings: Readonly<Record<string, KeyHandler>>, { isActive = true, typing = false, dialogs = false, handled = false }: Options = {}): void {
  const press = useEffectEvent((name: string, event: KeyboardEvent) => {
    if ((!handled && event.defaultPrevented) || (!typing && isTyping(event.target))) return;
    if (!dialogs && document.querySelector("dialog[open]") !== null) return;
    if (bindings[name]?.(event) !== false) event.preventDefault();
  });
  const names = isActive ? Object.keys(bindings).join(" ") : "";
  // Before the component is seen: the first key counts.
  useLayoutEffect(() => {
    if (names === "") return undefined;
    const handlers = names.split(" ").map((name) => [name, (event: KeyboardEvent) => press(name, event)]);
    return tinykeys(window, Object.fromEntries(handlers));
  }, [names]);
}

/** The same handler for Ctrl and, on a Mac, ⌘. */
export function withControl(key: string, handler: KeyHandler): Record<string, KeyHandler> {
  return { [`Control+${key}`]: handler, [`Meta+${key}`]: handler };
}

/** The handler of a character. On some keyboards it needs Shift; a capital letter always does. */
export function forCharacter(character: string, handler: KeyHandler): Record<string, KeyHandler> {
  if (/[a-z]/.test(character)) return { [character]: handler };
  const shifted = { [`Shift+${character}`]: handler };
  return /[A-Z]/.test(character) ? shifted : { [character]: handler, ...shifted };
}

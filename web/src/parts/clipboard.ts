/** Copies a text, also where the page came over plain HTTP from another machine: browsers have no clipboard there. */

import { clipboard as texts } from "../texts/parts";
import { showToast } from "./toasts";

/** Copies a text, and says whether that worked. */
export function copyWithToast(text: string): Promise<void> {
  return copyText(text).then(
    () => showToast(texts.copied),
    () => showToast(texts.theBrowserDoesNotAllow, "error"),
  );
}

export async function copyText(text: string): Promise<void> {
  if ("clipboard" in navigator) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area); // outside of an open dialog nothing can be selected
  const before = document.activeElement;
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!copied) throw new Error(texts.theBrowserDoesNotAllow);
}

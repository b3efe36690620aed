/** Copies a text, also where the page came over plain HTTP from another machine: browsers have no clipboard there. */

import { showToast } from "./toasts";

/** Copies a text, and says whether that worked. */
export function copyWithToast(text: string): Promise<void> {
  return copyText(text).then(
    () => showToast("Copied."),
    () => showToast("The browser does not allow copying.", "error"),
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
  if (!copied) throw new Error("The browser does not allow copying.");
}

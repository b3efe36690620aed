/**
 * Keys that are pressed while the preview has the focus. The preview reports them, and what it reports may be made up: only
 * keys of shortcuts are passed on, while it has the focus and a person has just used it.
 */

export interface PressedKey {
  key: string;
  code: string;
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}

/** The key that a preview reports; null if it is no key of a shortcut. */
export function asPressedKey(said: Readonly<Record<string, unknown>>): PressedKey | null {
  const key = String(said["key"] ?? "").slice(0, 20);
  const [altKey, ctrlKey, metaKey, shiftKey] = ["altKey", "ctrlKey", "metaKey", "shiftKey"].map((name) => said[name] === true) as [boolean, boolean, boolean, boolean];
  const isCommand = ctrlKey || metaKey;
  if (isCommand ? key.toLowerCase() !== "k" : key.length !== 1 || key === " ") return null;
  return { key, code: String(said["code"] ?? "").slice(0, 20), altKey, ctrlKey, metaKey, shiftKey };
}

/** Press a key in the page around the preview. */
export function pressKey(pressed: PressedKey): void {
  if (document.activeElement?.tagName !== "IFRAME" || !navigator.userActivation.isActive) return;
  const { key, code, altKey, ctrlKey, metaKey, shiftKey } = pressed;
  document.dispatchEvent(new KeyboardEvent("keydown", { key, code, altKey, ctrlKey, metaKey, shiftKey, bubbles: true, cancelable: true }));
}

/** Addresses inside of a preview. */

/** The address of a path in a preview; null if it is not a page of the dev server. */
export function addressIn(preview: string, path: string): string | null {
  if (!URL.canParse(path, preview)) return null;
  const address = new URL(path, preview);
  return address.origin === new URL(preview).origin ? address.href : null;
}

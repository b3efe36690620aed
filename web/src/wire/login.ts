/** The token comes in the address' fragment, is exchanged for a cookie that no script can read, and is forgotten. */

import { client } from "./rest";

/** The token of the address, which is removed from it; null if there is none. The view that stands behind it is opened. */
export function readToken(): string | null {
  const fields = new URLSearchParams(location.hash.slice(1));
  const token = fields.get("token");
  const view = fields.get("open") ?? "";
  const hash = view.startsWith("/") ? `#${encodeURI(view)}` : "";
  if (token !== null) history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
  return token;
}

export async function logInWith(token: string): Promise<boolean> {
  try {
    await client.logIn(token);
    return true;
  } catch {
    return false;
  }
}

export async function logOut(): Promise<void> {
  await client.logOut();
  location.reload();
}

/** The token comes in the address' fragment, is exchanged for a cookie that no script can read, and is forgotten. */

import { client } from "./rest";

/** The token of the address, which is removed from it; null if there is none. */
export function readToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) history.replaceState(null, "", `${location.pathname}${location.search}`);
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

/** The token comes in the address' fragment, is exchanged for a cookie that no script can read, and is forgotten. */

import { ApiError, client } from "./rest";

export async function logIn(): Promise<boolean> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) {
    history.replaceState(null, "", `${location.pathname}${location.search}`);
    return logInWith(token);
  }
  try {
    await client.models();
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return false;
    return true;
  }
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

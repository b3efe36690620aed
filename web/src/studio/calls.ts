/** Calls of the studio that the client has no methods for. */

import { post, put, remove, route } from "../wire/rest";

export interface KeyTest {
  ok: boolean;
  message: string;
}

export const keys = {
  store: (provider: string, key: string) => put<unknown>(route("providers", provider, "key"), { key }),
  remove: (provider: string) => remove(route("providers", provider, "key")),
  test: (provider: string) => post<KeyTest>(route("providers", provider, "test")),
};

/** The page's connection to the server that it comes from. */

import { ApiError, filePath, HealdClient } from "@heald/client";

export { ApiError, filePath };

/** The folder that the page is served from, such as "/" or "/assistant/". The API lies below it. */
export const BASE = typeof document === "undefined" ? "/" : new URL(".", document.baseURI).pathname;

export const client = new HealdClient({ url: BASE });

/** Set the handler of a server that no longer knows the page's cookie. */
export function whenSignedOut(listener: () => void): void {
  client.http.onSignedOut = listener;
}

export const get = <T>(path: string): Promise<T> => client.http.get<T>(path);
export const post = <T>(path: string, body: unknown = {}): Promise<T> => client.http.post<T>(path, body);
export const patch = <T>(path: string, body: unknown): Promise<T> => client.http.patch<T>(path, body);
export const put = <T>(path: string, body: unknown): Promise<T> => client.http.put<T>(path, body);
export const remove = (path: string): Promise<void> => client.http.remove(path);
/** A file as text; null if it is not text. */
export const textAt = (path: string): Promise<string | null> => client.http.text(path);

export async function blobAt(path: string): Promise<Blob> {
  return (await client.http.response("GET", path)).blob();
}

/** The path of an API call. Names may contain any character. */
export function route(...names: (string | number)[]): string {
  return client.http.route(...names);
}

/** Hand the person a file that the server has. */
export function download(path: string, name?: string): void {
  const link = document.createElement("a");
  link.href = path;
  link.download = name ?? "";
  link.rel = "noopener";
  document.body.append(link);
  link.click();
  link.remove();
}

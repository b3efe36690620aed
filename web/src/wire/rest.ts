/** Requests to the server. An answer that is none is an `ApiError`, in the server's own words. */

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

type Method = "GET" | "POST" | "PATCH" | "DELETE" | "PUT";

let onSignedOut: () => void = () => undefined;

/** Who is told when the server no longer knows us. */
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

async function answer(method: Method, path: string, body?: unknown): Promise<Response> {
  const binary = body instanceof Blob;
  const init: RequestInit = { method, credentials: "same-origin", headers: {} };
  if (binary) {
    init.body = body;
    init.headers = { "Content-Type": body.type || "application/octet-stream" };
  } else if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json" };
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch {
    throw new ApiError(0, "unreachable", "The server cannot be reached. It may have been stopped.");
  }
  if (response.ok) return response;
  if (response.status === 401) onSignedOut();
  throw await failure(response);
}

async function failure(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return new ApiError(response.status, error.code, error.message);
  } catch {
    return new ApiError(response.status, "internal", `The server answered ${response.status}.`);
  }
}

export async function request<T>(method: Method, path: string, body?: unknown): Promise<T> {
  const response = await answer(method, path, body);
  const text = await response.text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

export const get = <T>(path: string): Promise<T> => request<T>("GET", path);
export const post = <T>(path: string, body: unknown = {}): Promise<T> => request<T>("POST", path, body);
export const patch = <T>(path: string, body: unknown): Promise<T> => request<T>("PATCH", path, body);
export const remove = (path: string): Promise<unknown> => request("DELETE", path);

/** A file as text; null if it is not text. */
export async function textAt(path: string): Promise<string | null> {
  const bytes = await (await answer("GET", path)).arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

export async function blobAt(path: string): Promise<Blob> {
  return (await answer("GET", path)).blob();
}

/** The folder that the page is served from, such as "/" or "/assistant/". The API lies below it. */
export const BASE = typeof document === "undefined" ? "/" : new URL(".", document.baseURI).pathname;

/** The path of an API call. Names may contain any character. */
export function route(...names: (string | number)[]): string {
  return BASE + names.map((name) => encodeURIComponent(String(name))).join("/");
}

/** A file's path keeps its slashes. */
export function filePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
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

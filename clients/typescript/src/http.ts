/** Requests to the server. A refusal is an `ApiError` with the server's code and message. */

export class ApiError extends Error {
  constructor(
    /** The HTTP status; 0 where there was no response. */
    readonly status: number,
    /** For programs, such as `not_found` or `busy`. */
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export interface HttpOptions {
  /** The address of the server, such as `http://127.0.0.1:7878`, or the path that a page of it is served from. */
  url: string;
  /** The access token. A page that is logged in has a cookie instead. */
  token?: string | undefined;
  /** The `fetch` to use; the global one by default. */
  fetch?: typeof fetch | undefined;
  /** Called when the server no longer knows the token or the cookie. */
  onSignedOut?: (() => void) | undefined;
}

export type Method = "GET" | "POST" | "PATCH" | "DELETE" | "PUT";

export class HttpClient {
  /** The address with a slash at its end. */
  readonly base: string;
  onSignedOut: () => void;
  private readonly token: string | undefined;
  private readonly send: typeof fetch;

  constructor(options: HttpOptions) {
    this.base = options.url.endsWith("/") ? options.url : `${options.url}/`;
    this.token = options.token;
    this.send = options.fetch ?? ((input, init) => fetch(input, init));
    this.onSignedOut = options.onSignedOut ?? (() => undefined);
  }

  /** The address of an API call. Names may contain any character. */
  route(...names: (string | number)[]): string {
    return this.base + names.map((name) => encodeURIComponent(String(name))).join("/");
  }

  /** The address of a WebSocket, and the protocols that carry the token. */
  socket(...names: string[]): { address: string; protocols: string[] } {
    const here = typeof location === "undefined" ? undefined : location.href;
    const address = new URL(this.route(...names), here).href.replace(/^http/, "ws");
    return { address, protocols: this.token === undefined ? [] : ["heald", `heald.bearer.${this.token}`] };
  }

  /** The whole response. Raises `ApiError` for any status but success. */
  async response(method: Method, path: string, body?: unknown, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.token !== undefined) headers.set("Authorization", `Bearer ${this.token}`);
    const sent: RequestInit = { credentials: "same-origin", ...init, method, headers };
    if (body instanceof Blob || body instanceof Uint8Array) {
      headers.set("Content-Type", (body instanceof Blob && body.type) || "application/octet-stream");
      sent.body = body as BodyInit;
    } else if (body !== undefined) {
      headers.set("Content-Type", "application/json");
      sent.body = JSON.stringify(body);
    }
    let response: Response;
    try {
      response = await this.send(path, sent);
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new ApiError(0, "unreachable", "The server cannot be reached. It may have been stopped.");
    }
    if (response.ok) return response;
    if (response.status === 401) this.onSignedOut();
    throw await failure(response);
  }

  async request<T>(method: Method, path: string, body?: unknown): Promise<T> {
    const text = await (await this.response(method, path, body)).text();
    return (text === "" ? {} : JSON.parse(text)) as T;
  }

  get<T>(path: string): Promise<T> {
    return this.request<T>("GET", path);
  }

  post<T>(path: string, body: unknown = {}): Promise<T> {
    return this.request<T>("POST", path, body);
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.request<T>("PATCH", path, body);
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.request<T>("PUT", path, body);
  }

  async remove(path: string): Promise<void> {
    await this.response("DELETE", path);
  }

  async bytes(path: string): Promise<Uint8Array> {
    return new Uint8Array(await (await this.response("GET", path)).arrayBuffer());
  }

  /** A file as text; null if it is not text. */
  async text(path: string): Promise<string | null> {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(await this.bytes(path));
    } catch (error) {
      if (error instanceof TypeError) return null;
      throw error;
    }
  }
}

async function failure(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    return new ApiError(response.status, error.code, error.message);
  } catch {
    return new ApiError(response.status, "internal", `The server answered ${response.status}.`);
  }
}

/** The path of a file, for an address. It keeps its slashes. */
export function filePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** The query of an address, without the values that are not given. */
export function queryOf(values: Record<string, string | number | null | undefined>): string {
  const pairs = Object.entries(values).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** An id that no other request has. `crypto.randomUUID` is missing in pages without TLS. */
export function newRequestId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

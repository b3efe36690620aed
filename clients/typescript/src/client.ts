/** A Heald server: its sessions, projects, models and tools. */

import type { HealthView, ModelsView, NewSession, ProvidersView, SearchView, StudioView, TokenView, ToolsView, WorkspacesView } from "./api.generated.js";
import type { LoadBlob } from "./blobs.js";
import { ApiError, HttpClient, type HttpOptions, queryOf } from "./http.js";
import { ProjectsApi } from "./projects.js";
import { Session } from "./session.js";
import { SessionsApi } from "./sessions.js";
import { closeCodeOf, EventSocket, type Follower } from "./socket.js";

export interface ClientOptions extends HttpOptions {
  /** The WebSocket class, where there is no global one. */
  WebSocket?: typeof WebSocket | undefined;
}

export class HealdClient {
  readonly http: HttpClient;
  readonly sessions: SessionsApi;
  readonly projects: ProjectsApi;
  private socket: EventSocket | null = null;
  private readonly followers = new Map<string, Set<Follower>>();
  private readonly WebSocket: typeof WebSocket | undefined;

  constructor(options: ClientOptions) {
    this.http = new HttpClient(options);
    this.sessions = new SessionsApi(this.http);
    this.projects = new ProjectsApi(this.http);
    this.WebSocket = options.WebSocket;
  }

  /** A session that exists. */
  session(id: string): Session {
    return new Session(this, id);
  }

  async createSession(settings: NewSession = {}): Promise<Session> {
    return this.session((await this.sessions.create(settings)).id);
  }

  studio(): Promise<StudioView> {
    return this.http.get(this.http.route("studio"));
  }

  /** Messages and calls that hold all words of a text. `next` of the answer leads to those of older sessions. */
  search(text: string, after: string | null = null, limit = 30): Promise<SearchView> {
    return this.http.get(this.http.route("search") + queryOf({ text, limit, after }));
  }

  models(): Promise<ModelsView> {
    return this.http.get(this.http.route("models"));
  }

  providers(): Promise<ProvidersView> {
    return this.http.get(this.http.route("providers"));
  }

  tools(): Promise<ToolsView> {
    return this.http.get(this.http.route("tools"));
  }

  workspaces(): Promise<WorkspacesView> {
    return this.http.get(this.http.route("workspaces"));
  }

  health(): Promise<HealthView> {
    return this.http.get(this.http.route("health"));
  }

  /** Replace the token of this client. The old one is revoked with all its streams. */
  async rotateToken(): Promise<string> {
    return (await this.http.post<TokenView>(this.http.route("tokens", "rotate"))).token;
  }

  /** Exchange a token for a cookie that scripts cannot read: for a page that the server itself serves. */
  async logIn(token: string): Promise<void> {
    await this.http.post(this.http.route("login"), { token });
  }

  async logOut(): Promise<void> {
    await this.http.remove(this.http.route("login"));
  }

  /** Close the WebSocket, if one is open. Exchanges go on. */
  close(): void {
    this.socket?.close();
    this.socket = null;
  }

  /** A socket for the events of many sessions, not yet open. */
  createSocket(): EventSocket {
    return new EventSocket({ ...this.http.socket("ws"), WebSocket: this.WebSocket, loadBlob: this.loadBlob, refusal: this.refusal });
  }

  /** Follow a session on the socket that all sessions of this client share, until the returned function is called. */
  follow(session: string, follower: Follower): () => void {
    const following = this.followers.get(session) ?? new Set();
    this.followers.set(session, following);
    following.add(follower);
    if (this.socket === null) {
      this.socket = this.createSocket();
      this.socket.open();
    }
    this.socket.follow(session, shared(following));
    return () => {
      following.delete(follower);
      if (following.size > 0) return;
      this.followers.delete(session);
      this.socket?.unfollow(session);
      if (this.followers.size === 0) this.close();
    };
  }

  readonly loadBlob: LoadBlob = async (session, blob) => {
    return (await this.http.response("GET", this.sessions.blob(session, blob))).text();
  };

  private readonly refusal = async (): Promise<number> => {
    try {
      await this.models();
      return 1006;
    } catch (error) {
      return closeCodeOf(error instanceof ApiError ? error.status : 0);
    }
  };
}

/** Several followers of one session as one, which stands where the last of them does. Each drops what it has. */
function shared(followers: Set<Follower>): Follower {
  return {
    cursor: () => Math.min(...Array.from(followers, (follower) => follower.cursor())),
    events: (events) => followers.forEach((follower) => follower.events(events)),
    reset: (snapshot, seq) => followers.forEach((follower) => follower.reset(snapshot, seq)),
    caughtUp: (seq) => followers.forEach((follower) => follower.caughtUp?.(seq)),
    failed: (error) => [...followers].forEach((follower) => follower.failed?.(error)),
  };
}

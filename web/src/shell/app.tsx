/** The page: who is it, where are they, and what is there. */

import type { LiveStore } from "@heald/client";
import icon from "../icon.svg";
import { Suspense, useCallback, useEffect, useState } from "react";
import { SWRConfig } from "swr";
import { SessionView } from "../chat/session_view";
import { LiveContext } from "../live/hooks";
import { openStore } from "../live/store";
import { Boundary } from "../parts/boundary";
import { IconButton } from "../parts/button";
import { useKeys } from "../parts/keys";
import { lazyPart } from "../parts/lazy_part";
import { useNarrow } from "../parts/narrow";
import { Toasts } from "../parts/toasts";
import { Start } from "../studio/start";
import { app as texts } from "../texts/shell";
import { logInWith, readToken } from "../wire/login";
import { whenSignedOut } from "../wire/rest";
import { AwayBanner } from "./away";
import { FetchCache } from "./fetched";
import { Help } from "./help";
import { MenuContext } from "./menu_context";
import { Palette } from "./palette";
import { type Route, useRoute } from "./route";
import { nameTab } from "./tab_title";
import { SignIn } from "./sign_in";
import { Sidebar } from "./sidebar";

const ProjectPage = lazyPart("project", () => import("../studio/project").then((module) => module.ProjectPage));
const Settings = lazyPart("settings", () => import("./settings").then((module) => module.Settings));
const CompareSessions = lazyPart("compare_sessions", () => import("../chat/compare_sessions").then((module) => module.CompareSessions));
const Decide = lazyPart("decide", () => import("../chat/decide").then((module) => module.Decide));
const RepositoryPage = lazyPart("repository", () => import("../repository/repository_page").then((module) => module.RepositoryPage));
const SessionList = lazyPart("session_list", () => import("./session_list").then((module) => module.SessionList));

/** Projects and sessions have titles of their own. */
const TITLES: Partial<Record<Route["view"], string>> = { start: "", sessions: texts.sessions, settings: texts.settings };

/** `token` is the one that came in the address. */
export function App({ token }: { token: string | null }) {
  const [signed, setSigned] = useState<boolean | null>(token === null ? true : null); // without a cookie the first answer says so
  useEffect(() => {
    whenSignedOut(() => setSigned(false));
    if (token !== null) void logInWith(token).then(setSigned);
    const readAddress = () => {
      const pasted = readToken();
      if (pasted !== null) void logInWith(pasted).then((isAccepted) => isAccepted && setSigned(true));
    };
    window.addEventListener("hashchange", readAddress);
    return () => window.removeEventListener("hashchange", readAddress);
  }, [token]);
  if (signed === null) return null;
  return (
    <>
      {signed ? <Signed /> : <SignIn onSigned={() => setSigned(true)} />}
      <Toasts />
    </>
  );
}

let shared: LiveStore | null = null;

/** Somebody else who signs in begins with an empty cache. */
const FETCHES = { provider: () => new FetchCache() };

function Signed() {
  const [live] = useState(() => (shared ??= openStore()));
  const route = useRoute();
  const [menu, setMenu] = useState(false);
  const rail = route.view === "project";
  const covered = useNarrow() || rail; // by the menu, where it is open
  const openMenu = useCallback(() => setMenu(true), []);
  useKeys({ Escape: () => setMenu(false) }, { isActive: menu, typing: true, handled: true });
  useEffect(() => {
    const title = TITLES[route.view];
    if (title !== undefined) nameTab(title);
    live.socket.reconnect();
  }, [route.view, live]);
  return (
    <LiveContext value={live}>
      <SWRConfig value={FETCHES}>
        <a className="skip" href="#main" onClick={focusMain}>
          {texts.skipToContent}
        </a>
        <div className={`app ${rail ? "railed" : ""}`}>
          <Sidebar route={route} open={menu} rail={rail} onOpen={() => setMenu(true)} onClose={() => setMenu(false)} />
          {menu && <div className="shade" onClick={() => setMenu(false)} />}
          <main id="main" tabIndex={-1} className="main" inert={menu && covered}>
            {!rail && (
              <div className="top-bar only-small">
                <IconButton icon="menu" label={texts.menu} aria-expanded={menu} onClick={() => setMenu(true)} />
                <span className="row brand-name">
                  <img src={icon} width={20} height={20} alt="" />
                  Heald
                </span>
              </div>
            )}
            <AwayBanner />
            <MenuContext value={openMenu}>
              <Boundary level="view" resetKey={JSON.stringify(route)}>
                <Suspense fallback={<div className="empty grow">{texts.loading}</div>}>
                  <View route={route} />
                </Suspense>
              </Boundary>
            </MenuContext>
          </main>
        </div>
        <Palette />
        <Help />
      </SWRConfig>
    </LiveContext>
  );
}

function View({ route }: { route: Route }) {
  switch (route.view) {
    case "start":
      return <Start />;
    case "session":
      return <SessionView key={route.id} id={route.id} tab={route.tab} event={route.event} />;
    case "project":
      return <ProjectPage key={route.id} id={route.id} version={route.version} tab={route.tab} file={route.file} />;
    case "compare":
      return <CompareSessions key={`${route.left} ${route.right}`} left={route.left} right={route.right} />;
    case "repository":
      return <RepositoryPage key={route.name} name={route.name} tab={route.tab} />;
    case "decide":
      return <Decide key={route.id} id={route.id} />;
    case "sessions":
      return <SessionList />;
    case "settings":
      return <Settings />;
  }
}

function focusMain(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

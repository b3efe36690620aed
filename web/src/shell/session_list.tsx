/** All sessions, page by page. */

import { useState } from "react";
import { Button } from "../parts/button";
import { useDelayed } from "../parts/delayed";
import { ago } from "../parts/format";
import { Icon } from "../parts/icon";
import { showFailure } from "../parts/toasts";
import { sessionList as texts } from "../texts/sessions";
import { sessions } from "../wire/api";
import { useFetched } from "./fetched";
import { address } from "./route";

const AFTER_A_LETTER = 200;

export function SessionList() {
  const [search, setSearch] = useState("");
  const words = useDelayed(search.trim(), AFTER_A_LETTER);
  const fetched = useFetched(`sessions ${words}`, () => sessions.list(words), { keepsLast: true });
  const listed = fetched.value?.sessions ?? [];
  const next = fetched.value?.next ?? null;
  const more = () => {
    sessions
      .list(words, next)
      .then((page) => fetched.change((shown) => ({ ...page, sessions: [...shown.sessions, ...page.sessions] })))
      .catch(showFailure);
  };
  return (
    <div className="page">
      <h1>{texts.sessions}</h1>
      <input
        className="field"
        type="search"
        aria-label={texts.searchSessions}
        placeholder={texts.searchByTitle}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <ul className="plain-list card">
        {listed.map((session) => (
          <li key={session.id}>
            <a className="row list-link" href={address("session", session.id)}>
              <Icon name="chat" size={14} />
              <span className="grow truncate">{session.title || texts.untitled}</span>
              <span className="faint">{ago(session.updated)}</span>
            </a>
          </li>
        ))}
        {fetched.error !== null && <li role="alert">{fetched.error.message}</li>}
        {fetched.value !== null && listed.length === 0 && <li className="faint">{search === "" ? texts.noSessions : texts.noTitleHasTheseWords}</li>}
      </ul>
      {next !== null && <Button onClick={more}>{texts.showMore}</Button>}
    </div>
  );
}

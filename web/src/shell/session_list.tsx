/** All sessions, page by page. */

import { useEffect, useState } from "react";
import { Button } from "../parts/button";
import { ago } from "../parts/format";
import { Icon } from "../parts/icon";
import { showFailure } from "../parts/toasts";
import { sessions, type SessionView } from "../wire/api";
import { address } from "./route";

export function SessionList() {
  const [search, setSearch] = useState("");
  const [listed, setListed] = useState<SessionView[]>([]);
  const [next, setNext] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    sessions
      .list(search)
      .then((page) => {
        if (!current) return;
        setListed(page.sessions);
        setNext(page.next);
      })
      .catch(showFailure);
    return () => {
      current = false;
    };
  }, [search]);
  const more = () => {
    sessions
      .list(search, next)
      .then((page) => {
        setListed([...listed, ...page.sessions]);
        setNext(page.next);
      })
      .catch(showFailure);
  };
  return (
    <div className="page">
      <h1>Sessions</h1>
      <input
        className="field"
        type="search"
        aria-label="Search sessions"
        placeholder="Search by title"
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <ul className="plain-list card">
        {listed.map((session) => (
          <li key={session.id}>
            <a className="row list-link" href={address("session", session.id)}>
              <Icon name="chat" size={14} />
              <span className="grow truncate">{session.title || "Untitled"}</span>
              <span className="faint">{ago(session.updated)}</span>
            </a>
          </li>
        ))}
        {listed.length === 0 && <li className="faint">{search === "" ? "No sessions yet. New, in the menu, starts one." : "No title has these words. Search in the menu reads the messages too."}</li>}
      </ul>
      {next !== null && <Button onClick={more}>Show more</Button>}
    </div>
  );
}

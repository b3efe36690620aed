/** An existing repository: the conversation about it, its own dev server in a preview, and its change. */

import "../style/repository.css";
import { useEffect, useEffectEvent, useState } from "react";
import { useFollowed, useLive } from "../live/hooks";
import { Button, IconButton } from "../parts/button";
import { Icon } from "../parts/icon";
import { useKeptText } from "../parts/kept";
import { Segmented } from "../parts/segmented";
import { showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { usePolling } from "../shell/polling";
import { go } from "../shell/route";
import { useTabTitle } from "../shell/tab_title";
import { repositoryPage as texts } from "../texts/repository";
import { allowHost, beginChange, type RepositoryView, showRepository } from "./calls";
import { ChangeBar } from "./change_bar";
import { HostQuestion } from "./host_question";
import { type PreviewWord, type Report, withReport } from "./preview_report";
import { PreviewStage } from "./preview_stage";
import { RepositoryChat, sendTo } from "./repository_chat";
import { SidePanel } from "./side_panel";

/** Pauses between two looks at the repository, in milliseconds: while something starts or runs, and otherwise. */
const SOON = 700;
const LATER = 3000;

export function RepositoryPage({ name, tab }: { name: string; tab: string }) {
  const repository = useFetched(`repository ${name}`, () => showRepository(name), { isVolatile: true });
  const [session, setSession] = useKeptText(`repository-session:${name}`);
  /** The current change and the request that began it. */
  const [title, setTitle] = useKeptText(`repository-title:${name}`);
  const [reports, setReports] = useState<readonly Report[]>([]);
  const [blocked, setBlocked] = useState<readonly string[]>([]);
  const live = useLive();
  const followed = useFollowed(session === "" ? null : session);
  const part = tab === "preview" ? "preview" : "chat";
  const view = repository.value;
  useTabTitle(name);
  usePolling(repository, isBusy(view) ? SOON : LATER);
  const isIdle = followed === null || followed.conversation.exchange === null;
  const reload = useEffectEvent(repository.reload);
  useEffect(() => reload(), [isIdle]);

  const onWord = (word: PreviewWord) => {
    if (word.word === "loading") setReports([]);
    else if (word.word === "report") setReports((now) => withReport(now, word.report));
    else if (word.word === "blocked") {
      setReports((now) => withReport(now, { kind: "network", level: "error", text: word.text }));
      if (/^[a-z0-9.-]+\.[a-z][a-z0-9-]+$/.test(word.host)) setBlocked((now) => (now.includes(word.host) ? now : [...now, word.host]));
    }
  };
  const prepare = async (title: string) => {
    const current = await showRepository(name);
    if (current.branch === null || current.branch.base !== "") return;
    const begun = await beginChange(name, title);
    setTitle(`${begun.branch?.branch ?? ""} ${title}`);
    repository.set(begun);
  };
  const fix = (title: string, request: string) => {
    prepare(title)
      .then(() => sendTo(live, name, session, setSession, request, []))
      .then(() => go("repository", name, "chat"))
      .catch(showFailure);
  };
  if (view === null) {
    return (
      <div className="empty grow" role={repository.error === null ? "status" : "alert"}>
        <p>{repository.error?.message ?? texts.loading}</p>
        {repository.error !== null && <Button onClick={() => go()}>{texts.startPage}</Button>}
      </div>
    );
  }
  const hosts = [...new Set([...view.refused_hosts, ...blocked])].filter((host) => !view.allowed_hosts.includes(host));
  return (
    <div className="repository">
      <header className="view-head">
        <h1 className="truncate grow" title={name}>
          <Icon name="folder" /> {name}
        </h1>
        {view.framework !== "" && <span className="badge hide-small">{view.framework}</span>}
        {view.branch !== null && <ChangeBar name={name} branch={view.branch} title={titleOf(view, title)} onView={repository.set} onReload={repository.reload} />}
        {session !== "" && isIdle && <IconButton small icon="plus" label={texts.newConversation} onClick={() => setSession("")} />}
        <div className="repository-tabs">
          <Segmented
            tabs
            label={texts.partsOfTheRepository}
            value={part}
            onChange={(next) => go("repository", name, next)}
            choices={[
              { value: "chat", label: texts.chat, icon: "chat" },
              { value: "preview", label: texts.preview, icon: "desktop" },
            ]}
          />
        </div>
      </header>
      <div className={`repository-body shows-${part}`}>
        <RepositoryChat name={name} session={session} onSession={setSession} prepare={prepare} />
        <div className="repository-stage">
          <HostQuestion hosts={hosts} onAllow={(host) => void allowHost(name, host).then(repository.set).catch(showFailure)} />
          <PreviewStage name={name} view={view} onView={repository.set} onWord={onWord} />
          <SidePanel name={name} view={view} reports={reports} onFix={fix} onView={repository.set} />
        </div>
      </div>
    </div>
  );
}

/** The request that began the change, or the words of its branch if it began elsewhere. */
function titleOf(view: RepositoryView, title: string): string {
  const branch = view.branch?.branch ?? "";
  if (branch !== "" && title.startsWith(`${branch} `)) return title.slice(branch.length + 1);
  const words = branch.replace(/^heald\//, "").replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Whether something of the repository starts or runs. */
function isBusy(view: RepositoryView | null): boolean {
  return view !== null && (view.status === "starting" || view.install?.status === "running" || view.test?.status === "running");
}

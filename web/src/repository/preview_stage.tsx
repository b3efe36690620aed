/** The preview of a repository, or what is to be done before there is one. */

import { type ReactNode, useState } from "react";
import { Button } from "../parts/button";
import { plain } from "../parts/format";
import { showFailure } from "../parts/toasts";
import { previewStage as texts } from "../texts/repository";
import { AgreeCard } from "./agree_card";
import { agree, allowHost, type RepositoryView, startServer, stopJob, stopServer } from "./calls";
import { DevFrame } from "./dev_frame";
import { installAndStart } from "./installation";
import { OutputText } from "./output_text";
import { PreviewBar } from "./preview_bar";
import type { PreviewWord } from "./preview_report";

interface Props {
  name: string;
  view: RepositoryView;
  onView(view: RepositoryView): void;
  onWord(word: PreviewWord): void;
}

export function PreviewStage({ name, view, onView, onWord }: Props) {
  const [width, setWidth] = useState<number | null>(null);
  const [path, setPath] = useState("");
  const [page, setPage] = useState({ address: "", count: 0 });
  const act = (step: Promise<RepositoryView>) => void step.then(onView).catch(showFailure);
  const { commands, install } = view;
  if (commands === null) {
    return <Waiting text={texts.noDevScript} />;
  }
  if (!commands.agreed) {
    const accept = async (hosts: string[]) => {
      await agree(name, commands.digest);
      for (const host of hosts) await allowHost(name, host);
      return view.installed ? startServer(name) : installAndStart(name, onView);
    };
    return (
      <div className="stage-cards">
        <AgreeCard view={view} commands={commands} onAgree={(hosts) => act(accept(hosts))} />
      </div>
    );
  }
  const isStarted = view.status === "starting" || view.status === "running";
  if (install?.status === "running" || !view.installed || (install?.status === "failed" && !isStarted)) {
    const isRunning = install?.status === "running";
    const state = install?.status === "failed" ? texts.theInstallationFailed : texts.thePackagesAreNotInstalled;
    return (
      <div className="stage-cards">
        <section className="card-box" aria-label={texts.packages}>
          <h2>{isRunning ? texts.installingPackages : state}</h2>
          <OutputText label={texts.outputOfTheInstallation} text={install?.output ?? ""} empty={texts.theyAreInstalledWith(commands.install)} />
          <div className="row">
            {isRunning ? (
              <Button icon="stop" onClick={() => act(stopJob(name, "install"))}>
                {texts.stop}
              </Button>
            ) : (
              <Button look="primary" icon="download" onClick={() => act(installAndStart(name, onView))}>
                {texts.install}
              </Button>
            )}
            {!isRunning && view.installed && <Button onClick={() => act(startServer(name))}>{texts.start(plain(commands.dev))}</Button>}
          </div>
        </section>
      </div>
    );
  }
  if (view.status === "starting") {
    return (
      <Waiting text={texts.theDevServerIsStarting} spins>
        <Button icon="stop" onClick={() => act(stopServer(name))}>
          {texts.stop}
        </Button>
      </Waiting>
    );
  }
  if (view.status !== "running") {
    return (
      <div className="stage-cards">
        <section className="card-box" aria-label={texts.devServer}>
          <h2>{view.status === "failed" ? texts.theDevServerHasEnded : texts.devServerStopped}</h2>
          {view.status === "failed" && <OutputText label={texts.outputOfTheDevServer} text={view.output} empty={texts.itPrintedNothing} />}
          <div className="row">
            <Button look="primary" icon="right" onClick={() => act(startServer(name))}>
              {texts.start(plain(commands.dev))}
            </Button>
            <Button icon="download" onClick={() => act(installAndStart(name, onView))}>
              {texts.installPackages}
            </Button>
          </div>
        </section>
      </div>
    );
  }
  if (view.preview === "") return <Waiting text={texts.devServerElsewhere} />;
  return (
    <>
      <PreviewBar
        preview={view.preview}
        path={path}
        width={width}
        onWidth={setWidth}
        onOpen={(address) => setPage({ address, count: page.count + 1 })}
        onStop={() => act(stopServer(name))}
      />
      <DevFrame
        src={page.address || view.preview}
        title={texts.previewOf(name)}
        count={page.count}
        width={width}
        onWord={(word) => {
          if (word.word === "page") setPath(word.path);
          onWord(word);
        }}
      />
    </>
  );
}

function Waiting({ text, spins = false, children }: { text: string; spins?: boolean; children?: ReactNode }) {
  return (
    <div className="empty grow" role="status">
      {spins && <span className="spinner" aria-hidden="true" />}
      <p>{text}</p>
      {children}
    </div>
  );
}

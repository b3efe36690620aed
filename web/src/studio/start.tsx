/** The beginning: a prompt box, and what was made before. */

import { useState } from "react";
import type { Attachment } from "../chat/attachments";
import { Box } from "../chat/box";
import { contentOf } from "../chat/composer";
import { MODES } from "../chat/session_settings";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { Segmented } from "../parts/segmented";
import { showToast, showFailure } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { go } from "../shell/route";
import { models, type Prompt, projects, sessions, studio, type StudioView, workspaces } from "../wire/api";
import { type Example, Examples, pictureOf } from "./examples";
import { ModelChoice } from "./model_choice";
import { RecentProjects } from "./recent";

type Mode = "design" | "assist";

export function Start() {
  const [mode, setMode] = useState<Mode | null>(null);
  const [text, setText] = useState("");
  const [attachments, setAttachments] = useState<Attachment[]>([]);
  const offer = useFetched("studio", studio);
  const noStudio = offer.error !== null && offer.error.status === 404;
  const known = useFetched("models", models);
  const shown: Mode = noStudio ? "assist" : (mode ?? (known.value?.fixed === true ? "assist" : "design"));
  const applyExample = (example: Example) => {
    if (!example.thumbnail) setText(example.title);
    else pictureOf(example).then(setAttachments).catch(showFailure);
    document.getElementById("begin")?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div className="start">
      <div className="start-head">
        <h1>{shown === "design" ? "What shall we build?" : "What shall we work on?"}</h1>
        <p className="muted">
          {shown === "design"
            ? "A screenshot, a sketch, an address or a sentence: several models build it side by side."
            : "Ask, or let an agent work in a folder. It shows everything it does."}
        </p>
        {!noStudio && (
          <Segmented
            label="What to do"
            value={shown}
            onChange={setMode}
            choices={[
              { value: "design", label: "Build a page", icon: "grid" },
              { value: "assist", label: "Assistant", icon: "chat" },
            ]}
          />
        )}
      </div>
      {shown === "design" ? (
        <Design offer={offer.value} text={text} setText={setText} attachments={attachments} setAttachments={setAttachments} />
      ) : (
        <Assist text={text} setText={setText} attachments={attachments} setAttachments={setAttachments} />
      )}
      {shown === "design" && offer.value !== null && (
        <>
          <Examples examples={offer.value.examples} pictures={!offer.value.has_keys} onChoose={applyExample} />
          <RecentProjects />
        </>
      )}
    </div>
  );
}

interface Written {
  text: string;
  setText(text: string): void;
  attachments: Attachment[];
  setAttachments(attachments: Attachment[]): void;
}

function Design({ offer, text, setText, attachments, setAttachments }: Written & { offer: StudioView | null }) {
  const [stack, setStack] = useState("");
  const [chosen, setChosen] = useState<string[]>([]);
  const [variants, setVariants] = useState<number | null>(null);
  const [system, setSystem] = useState("");
  const [busy, setBusy] = useState(false);
  const count = variants ?? offer?.defaults.variants_create ?? 4;
  const empty = text.trim() === "" && attachments.length === 0;
  const create = async () => {
    if (empty || busy || offer === null) return;
    setBusy(true);
    try {
      const project = await projects.create({
        prompt: promptOf(text, attachments),
        stack: stack || offer.defaults.stack,
        variants: count,
        ...(chosen.length > 0 ? { models: chosen } : {}),
        ...(system ? { design_system: system } : {}),
      });
      go("project", project.id);
    } catch (error) {
      showFailure(error);
      setBusy(false);
    }
  };
  return (
    <div className="start-box" id="begin">
      {offer !== null && !offer.has_keys && (
        <p className="note" data-testid="no-key">
          <Icon name="info" size={14} />
          <span>No provider key is set: the model that comes with Weft turns screenshots into pages. Set a key to use others.</span>
        </p>
      )}
      <Box
        tall
        autoFocus
        label="What to build"
        placeholder="Describe a page, paste a screenshot, or enter an address…"
        accept="image/*,video/*,.html,.htm,text/html"
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        onSubmit={() => void create()}
        submit={
          <Button look="primary" disabled={empty || busy || offer === null} onClick={() => void create()}>
            {busy ? <span className="spinner" aria-hidden="true" /> : null}
            Build
          </Button>
        }
      >
        <select className="select" aria-label="Stack" value={stack || offer?.defaults.stack || ""} onChange={(event) => setStack(event.target.value)}>
          {offer?.stacks.map((each) => (
            <option key={each.name} value={each.name}>
              {each.label}
            </option>
          ))}
        </select>
        <ModelChoice models={offer?.models ?? []} chosen={chosen} onChange={setChosen} />
        <label className="row variants-count">
          <span className="faint">Variants</span>
          <select className="select" value={count} onChange={(event) => setVariants(Number(event.target.value))}>
            {[1, 2, 3, 4, 5, 6].map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
        {offer !== null && offer.design_systems.length > 0 && (
          <select className="select" aria-label="Design system" value={system} onChange={(event) => setSystem(event.target.value)}>
            <option value="">No design system</option>
            {offer.design_systems.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        )}
      </Box>
    </div>
  );
}

/** An address alone is a page to rebuild; with words it stands beside them. */
export function promptOf(text: string, attachments: Attachment[]): Prompt {
  const prompt: Prompt = {};
  const found = /(?:^|\s)(https?:\/\/\S+)/.exec(text);
  const words = text.trim();
  if (found?.[1] !== undefined) prompt.url = found[1];
  if (words !== "" && words !== prompt.url) prompt.text = words;
  const of = (kind: Attachment["kind"]) => attachments.filter((each) => each.kind === kind);
  if (of("image").length > 0) prompt.images = of("image").map(({ data }) => ({ data }));
  if (of("video").length > 0) prompt.videos = of("video").map(({ data }) => ({ data }));
  if (of("html").length > 0) prompt.html = of("html").map(({ data }) => data).join("\n");
  return prompt;
}

type Offer = Awaited<ReturnType<typeof models>>;

const usableOf = (offer: Offer) => offer.models.filter((each) => each.available !== false);

/** The model that is taken where nobody has chosen one. */
const usualOf = (offer: Offer) => offer.default || usableOf(offer)[0]?.name || "";

function Assist({ text, setText, attachments, setAttachments }: Written) {
  const known = useFetched("models", models);
  const folders = useFetched("workspaces", workspaces);
  const [model, setModel] = useState("");
  const [folder, setFolder] = useState("");
  const [mode, setMode] = useState<string>("ask");
  const [busy, setBusy] = useState(false);
  const empty = text.trim() === "" && attachments.length === 0;
  const usable = known.value === null ? [] : usableOf(known.value);
  const name = model || (known.value === null ? "" : usualOf(known.value));
  const create = async () => {
    if (empty || busy) return;
    setBusy(true);
    try {
      const offer = known.value ?? (await models());
      const asked = name || usualOf(offer);
      if (asked === "" && !offer.fixed) {
        showToast("No model is available: set a provider's key on the server.", "error");
        setBusy(false);
        return;
      }
      const tools = folder === "" ? ["files", "web", "todo", "ask"] : ["all"];
      const settings = { model: asked, tools, permissions: mode, ...(folder === "" ? {} : { workspace: folder }) };
      const session = await sessions.create(offer.fixed ? {} : settings);
      await sessions.send(session.id, contentOf(text, attachments));
      go("session", session.id);
    } catch (error) {
      showFailure(error);
      setBusy(false);
    }
  };
  return (
    <div className="start-box">
      <Box
        tall
        autoFocus
        label="What to work on"
        placeholder="Ask something, or say what to do in the folder…"
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        onSubmit={() => void create()}
        submit={
          <Button look="primary" disabled={empty || busy} onClick={() => void create()}>
            Start
          </Button>
        }
      >
        {known.value?.fixed !== true && (
          <>
            <select className="select" aria-label="Model" value={name} onChange={(event) => setModel(event.target.value)}>
              {usable.map((each) => (
                <option key={each.name} value={each.name}>
                  {each.label || each.name}
                </option>
              ))}
            </select>
            <select className="select" aria-label="Folder" value={folder} onChange={(event) => setFolder(event.target.value)}>
              <option value="">No folder</option>
              {folders.value?.workspaces.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            <select className="select" aria-label="Permissions" value={mode} onChange={(event) => setMode(event.target.value)}>
              {MODES.map((each) => (
                <option key={each.value} value={each.value}>
                  {each.label}
                </option>
              ))}
            </select>
          </>
        )}
      </Box>
    </div>
  );
}

/** The beginning: a prompt box, and what was made before. What is written or attached here stays until it is used. */

import { useState } from "react";
import { type Attachment, readFiles } from "../chat/attachments";
import { Box } from "../chat/box";
import { unsentAttachments, unsentText } from "../chat/unsent";
import { Button } from "../parts/button";
import { ago } from "../parts/format";
import { Icon } from "../parts/icon";
import { type Change, useKeptObject, useKeptText, useKeptValue } from "../parts/kept";
import { Segmented } from "../parts/segmented";
import { showFailure, showToast } from "../parts/toasts";
import { useAway } from "../shell/away";
import { useFetched } from "../shell/fetched";
import { closeTour, useTour } from "../shell/first_visit";
import { useRecent } from "../shell/listed";
import { address, go } from "../shell/route";
import { AGENT_STEPS, STUDIO_STEPS, Tour } from "../shell/tour";
import { start as texts } from "../texts/start";
import { models, projects, type ProjectView, studio, type StudioView } from "../wire/api";
import { blobAt } from "../wire/rest";
import { Assist } from "./assist";
import { buildPlanOf } from "./build_plan";
import { designSystems } from "./calls";
import { DraftSwitch } from "./draft_switch";
import { Frame } from "./frame";
import { Gallery } from "./gallery";
import { ModelChoice } from "./model_choice";
import { type Hint, NO_HINT, PictureHint } from "./picture_hint";
import { isPage } from "./prompt";
import { canRecord, Recorder, Storyboard } from "./recorder";

type Mode = "design" | "assist";

/** Windows that a page on the web can be captured in; 0 is both of the usual ones. */
const WIDTHS = [
  [0, texts.desktopAndPhone],
  [1920, texts.px1920PxWide],
  [1440, texts.px1440PxWide],
  [1280, texts.px1280PxWide],
  [768, texts.px768PxWide],
  [390, texts.px390PxWide],
] as const;

export interface Written {
  text: string;
  setText(change: Change<string>): void;
  attachments: Attachment[];
  setAttachments(change: Change<Attachment[]>): void;
}

export function Start() {
  const [mode, setMode] = useState<Mode | null>(null);
  const [text, setText] = useKeptText("start");
  const [attachments, setAttachments] = useKeptObject<Attachment[]>("start", []);
  const offer = useFetched("studio", studio);
  const noStudio = offer.error !== null && offer.error.status === 404;
  const catalogue = useFetched("models", models);
  const activeMode: Mode = noStudio ? "assist" : (mode ?? (catalogue.value?.fixed === true ? "assist" : "design"));
  const isTouring = useTour();
  const written: Written = { text, setText, attachments, setAttachments };
  const applyExample = (example: Example) => {
    if (!example.thumbnail) setText(example.title);
    else pictureOf(example).then(setAttachments).catch(showFailure);
    document.querySelector<HTMLElement>("#begin textarea")?.focus(); // Enter builds it
  };
  const pictures = offer.value !== null && !offer.value.has_keys;
  return (
    <>
      <div className="start">
        <div className="start-head">
          <h1>{activeMode === "design" ? texts.whatShallWeBuild : texts.whatShallWeWorkOn}</h1>
          <p className="muted">{activeMode === "design" ? leadOf(pictures) : texts.askOrLetAnAgent}</p>
          {!noStudio && (
            <Segmented
              label={texts.whatToDo}
              value={activeMode}
              onChange={setMode}
              choices={[
                { value: "design", label: texts.buildAPage, icon: "grid" },
                { value: "assist", label: texts.assistant, icon: "chat" },
              ]}
            />
          )}
        </div>
        {activeMode === "design" ? <Design offer={offer.value} {...written} /> : <Assist offer={catalogue.value} {...written} />}
        {activeMode === "design" && offer.value !== null && (
          <>
            <Examples examples={offer.value.examples} pictures={pictures} onChoose={applyExample} />
            <RecentProjects />
            <Gallery items={offer.value.gallery} />
          </>
        )}
      </div>
      {isTouring && (offer.value !== null || noStudio) && <Tour steps={activeMode === "design" ? STUDIO_STEPS : AGENT_STEPS} onClose={closeTour} />}
    </>
  );
}

function leadOf(pictures: boolean): string {
  return pictures
    ? texts.aScreenshotOrASketch
    : texts.tagline;
}

function Design({ offer, text, setText, attachments, setAttachments }: Written & { offer: StudioView | null }) {
  const [stack, setStack] = useKeptText("stack");
  const [remembered, setRemembered] = useKeptValue<string[]>("models", []);
  const [variants, setVariants] = useKeptValue<number>("variants", 0);
  const [width, setWidth] = useKeptValue<number>("capture-width", 0);
  const [whole, setWhole] = useKeptValue<boolean>("capture-whole", true);
  const [eachPage, setEachPage] = useKeptValue<boolean>("each-page", false);
  const [draft, setDraft] = useKeptValue<boolean>("draft-first", false);
  const [hint, setHint] = useState<Hint>(NO_HINT); // of these pictures alone
  const [system, setSystem] = useKeptText("design-system");
  const systems = useFetched("design-systems", designSystems.list);
  const design = systems.value?.find((candidate) => candidate.id === system);
  const [busy, setBusy] = useState(false);
  const away = useAway();
  const choices = { text, attachments, stack, models: remembered, variants, eachPage, draft, hint };
  const plan = buildPlanOf(offer, choices);
  const { prompt, chosen, usualModels, noWords, imports, refused } = plan;
  const attach = async (file: File) => {
    const { read, refused: reasons } = await readFiles([file]);
    for (const reason of reasons) showToast(reason, "error");
    setAttachments((current) => [...current.filter((attachment) => attachment.kind !== "video"), ...read]);
  };
  const create = async () => {
    if (plan.empty || busy || refused || away) return;
    setBusy(true);
    try {
      // Somebody may press Enter before the offer is there.
      const { prompt: asked, ...build } = offer === null ? buildPlanOf(await studio(), choices) : plan;
      if (build.refused) {
        setBusy(false); // the page says why as soon as it has the offer
        return;
      }
      const project = await projects.create({
        prompt: asked.url === undefined ? asked : { ...asked, capture: { ...(width === 0 ? {} : { width }), full_page: whole } },
        ...(asked.html === undefined ? { stack: build.stack } : {}),
        variants: build.variants,
        ...(build.chosen.length > 0 ? { models: build.chosen } : {}),
        ...(build.canDraft && draft ? { draft: true } : {}),
        ...(design === undefined ? {} : { design_system: design.content }),
      });
      setText((current) => unsentText(current, text));
      setAttachments((current) => unsentAttachments(current, attachments));
      setHint(NO_HINT);
      go("project", project.id);
    } catch (error) {
      showFailure(error);
      setBusy(false);
    }
  };
  return (
    <div className="start-box" id="begin">
      <Box
        tall
        roles
        pages={plan.eachPage}
        autoFocus
        label={texts.whatToBuild}
        placeholder={noWords ? texts.pasteOrDropAScreenshot : texts.describePage}
        accept="image/*,video/*,text/*,application/pdf,.html,.htm,.svg,.json,.csv,.tsv,.md,.log,.txt,.pdf"
        text={text}
        onText={setText}
        attachments={attachments}
        onAttachments={setAttachments}
        asFile={(pasted) => (isPage(pasted) ? "pasted.html" : null)}
        onSubmit={() => void create()}
        submit={
          <Button look="primary" disabled={plan.empty || busy || refused || away || offer === null} onClick={() => void create()}>
            {busy ? <span className="spinner" aria-hidden="true" /> : null}
            {imports ? texts.import : texts.build}
          </Button>
        }
      >
        {!imports && (
          <>
            <select className="select" aria-label={texts.stack} value={plan.stack} onChange={(event) => setStack(event.target.value)}>
              {plan.stacks.map((candidate) => (
                <option key={candidate.name} value={candidate.name}>
                  {candidate.label}
                </option>
              ))}
            </select>
            <ModelChoice models={offer?.models ?? []} usual={usualModels} chosen={chosen} onChange={setRemembered} />
            {plan.canDraft && <DraftSwitch checked={draft} onChange={setDraft} />}
            {plan.canHint && <PictureHint hint={hint} onChange={setHint} />}
            <label className="row">
              <span className="faint">{texts.variants}</span>
              <select className="select" value={plan.variants} onChange={(event) => setVariants(Number(event.target.value))}>
                {[1, 2, 3, 4, 5, 6].map((count) => (
                  <option key={count} value={count}>
                    {count}
                  </option>
                ))}
              </select>
            </label>
            {plan.several && plan.stack !== "svg" && (
              <label className="row">
                <input type="checkbox" checked={eachPage} onChange={(event) => setEachPage(event.target.checked)} />
                <span className="faint">{texts.eachPictureAPage}</span>
              </label>
            )}
            {prompt.url !== undefined && (
              <>
                <select className="select" aria-label={texts.widthOfTheCapturedPage} value={width} onChange={(event) => setWidth(Number(event.target.value))}>
                  {WIDTHS.map(([value, label]) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                </select>
                <label className="row">
                  <input type="checkbox" checked={whole} onChange={(event) => setWhole(event.target.checked)} />
                  <span className="faint">{texts.wholePage}</span>
                </label>
              </>
            )}
            {!noWords && systems.value !== null && systems.value.length > 0 && (
              <select className="select" aria-label={texts.designSystem} value={design?.id ?? ""} onChange={(event) => setSystem(event.target.value)}>
                <option value="">{texts.noDesignSystem}</option>
                {systems.value.map((design) => (
                  <option key={design.id} value={design.id}>
                    {design.name}
                  </option>
                ))}
              </select>
            )}
          </>
        )}
        {!noWords && !imports && canRecord() && <Recorder onRecorded={(file) => void attach(file)} />}
        {imports && <span className="faint">{texts.thePageBecomesVersion1}</span>}
      </Box>
      {attachments
        .filter((attachment) => attachment.kind === "video")
        .map((attachment) => (
          <Storyboard key={attachment.id} id={attachment.id} data={attachment.data} />
        ))}
      {plan.noToken ? (
        <p className="note warning" role="alert">
          <Icon name="alert" size={14} />
          <span>
            {texts.readingADesignFromFigma} <a href={address("settings")}>{texts.setAFigmaToken}</a>{texts.orAttachFrame}
          </span>
        </p>
      ) : (
        <Limits offer={offer} noWords={noWords} refused={refused} />
      )}
    </div>
  );
}

/** Says what does not work here, and what to do about it. */
function Limits({ offer, noWords, refused }: { offer: StudioView | null; noWords: boolean; refused: boolean }) {
  if (offer === null || !noWords) return null;
  return (
    <p className={`note ${refused ? "warning" : ""}`} data-testid="no-key" role={refused ? "alert" : undefined}>
      <Icon name={refused ? "alert" : "info"} size={14} />
      <span>
        {refused ? texts.wordsAloneCannotBeBuilt : texts.picturesOnly}
        <a href={address("settings")}>{texts.setAProvidersKey}</a> {texts.toBuildFromWords}
      </span>
    </p>
  );
}

const MOST = 8;

function RecentProjects() {
  const recent = useRecent();
  const [earlier] = useState(recent); // listed before this view was opened: somebody may have deleted one of them since
  if (recent === null || recent.projects.length === 0) return null;
  return (
    <section className="start-section" aria-labelledby="recent">
      <h2 id="recent">{texts.recentProjects}</h2>
      <div className="project-grid">
        {recent.projects.slice(0, MOST).map((project) => (
          <a key={project.id} className="project-card" href={address("project", project.id)}>
            <Thumbnail project={project} isLoaded={recent !== earlier} />
            <span className="truncate">{project.title || texts.untitled}</span>
            <span className="faint">{ago(project.updated)}</span>
          </a>
        ))}
      </div>
    </section>
  );
}

/** The newest version that has a page. */
function Thumbnail({ project, isLoaded }: { project: ProjectView; isLoaded: boolean }) {
  const variants = (project.versions ?? []).map((version) => version.variants[version.chosen] ?? version.variants[0]);
  const finished = variants.findLast((variant) => variant?.status === "completed");
  return (
    <span className="project-thumb" aria-hidden="true">
      {finished === undefined || !isLoaded ? <Icon name="grid" size={24} /> : <Frame inert source={{ src: finished.preview }} title={project.title} />}
    </span>
  );
}

type Example = StudioView["examples"][number];

interface Props {
  examples: readonly Example[];
  /** Where no model takes words, the examples are screenshots alone. */
  pictures: boolean;
  onChoose(example: Example): void;
}

/** Things to build, to be chosen with a click: sentences, and screenshots. */
function Examples({ examples, pictures, onChoose }: Props) {
  if (examples.length === 0) return null;
  return (
    <section className="start-section" aria-labelledby="examples">
      <h2 id="examples">{pictures ? texts.screenshotsToTryItWith : texts.examples}</h2>
      <div className="examples">
        {examples.map((example) => (
          <button key={example.name} type="button" className="example" onClick={() => onChoose(example)}>
            {example.thumbnail && <img src={example.thumbnail} alt="" loading="lazy" />}
            <span>{example.title}</span>
          </button>
        ))}
      </div>
    </section>
  );
}

/** The screenshot of an example, as if it had been dropped on the page. */
async function pictureOf(example: Example): Promise<Attachment[]> {
  if (!example.thumbnail) return [];
  const picture = await blobAt(example.thumbnail);
  const { read } = await readFiles([new File([picture], example.name, { type: "image/png" })]);
  return read;
}

/** The chosen variant, large: at three widths, fitted or in full size, with what goes wrong in it. */

import "../style/visual.css";
import { type ReactNode, useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Button, IconButton } from "../parts/button";
import { Icon } from "../parts/icon";
import { useKeptValue } from "../parts/kept";
import { useKeys } from "../parts/keys";
import { isNarrow, useNarrow } from "../parts/narrow";
import { Segmented } from "../parts/segmented";
import { showToast } from "../parts/toasts";
import { useCommands } from "../shell/commands";
import { address as addressOf } from "../shell/route";
import { stage as texts } from "../texts/project";
import { isRunning, type Prompt, type VariantView } from "../wire/api";
import { ErrorList } from "./console";
import { Frame, type LiveEdit, type PreviewMessage } from "./frame";
import { type PageEdit, Pages } from "./pages";
import { pressKey } from "./preview_keys";
import { pageSource, useSource } from "./source";
import { errorOf } from "./variant_card";
import { EditHelp } from "./visual/edit_help";
import { LayerTree } from "./visual/layer_tree";
import type { Selection } from "./visual/picked_element";
import type { Layer, Moved } from "./visual/visual_message";

export const WIDTHS = { desktop: 1280, tablet: 768, mobile: 375 } as const;
export type Device = keyof typeof WIDTHS;
type Zoom = "fit" | "full";

/** The next width, after the widest the narrowest. */
const wider = (device: Device): Device => (device === "mobile" ? "tablet" : device === "tablet" ? "desktop" : "mobile");
const MOST = 100;
/** Milliseconds between two pictures of a page that grows. */
const PAUSE = 200;

const NOTHING = () => Promise.resolve();

export type Selected = NonNullable<Prompt["selected"]>;

interface Props {
  version: string;
  variant: VariantView;
  changes: boolean;
  /** Where its buttons are shown. */
  bar: HTMLElement | null;
  selecting: boolean;
  onSelecting(on: boolean): void;
  onSelected(selected: Selected, selection: Selection): void;
  /** The paths of the selected elements. */
  selection: readonly string[];
  /** A handle of the selected element was dragged. */
  onHandled(style: Readonly<Record<string, string>>): void;
  /** A text was written in place. */
  onTyped(text: string): void;
  /** Elements were moved; whether the source was changed so. */
  onMoved(moved: Moved): Promise<boolean>;
  /** The selected element is not in the page any more. */
  onLost(): void;
  /** A change by hand that is not applied yet. */
  edit: LiveEdit | null;
  onRetry: (() => void) | null;
  /** Lets an agent repair what goes wrong in the page; null where none can. */
  onFix: ((errors: readonly string[]) => void) | null;
  /** The page of the project that is shown; empty for the first one. */
  page: string;
  onPage(path: string): void;
  /** Changes the pages; null where nothing can be changed. */
  onPages: ((edit: PageEdit) => Promise<void>) | null;
  /** Whether a model can write a page from words. */
  words: boolean;
  /** What stands beside the preview. */
  children?: ReactNode;
}

export function Stage({ version, variant, changes, bar, selecting, onSelecting, onSelected, selection, onHandled, onTyped, onMoved, onLost, edit, onRetry, onFix, page, onPage, onPages, words, children }: Props) {
  const pages = variant.pages;
  const first = pages[0]?.path ?? "index.html";
  const [target, setTarget] = useState(page);
  const [missing, setMissing] = useState("");
  const source = pageSource(useSource(variant, changes, PAUSE), pages.slice(1).some((candidate) => candidate.path === target) ? target : "");
  const [device, setDevice] = useKeptValue<Device>("device", isNarrow() ? "mobile" : "desktop");
  const [zoom, setZoom] = useKeptValue<Zoom>("zoom", "fit");
  const [full, setFull] = useState(false);
  const [count, setCount] = useState(0);
  const [errors, setErrors] = useState<string[]>([]);
  const [stopped, setStopped] = useState(false);
  const [layersOpen, setLayersOpen] = useKeptValue("layers", false);
  const [layers, setLayers] = useState<Layer[]>([]);
  const [command, setCommand] = useState<object | null>(null);
  const place = `${version}.${variant.index}`;
  useEffect(() => setErrors([]), [place, count]);
  const showLastPage = useEffectEvent(() => setTarget(page)); // a new version is shown at the page that was shown last
  useEffect(() => {
    setStopped(false);
    setMissing("");
    showLastPage();
  }, [place]);
  const go = (path: string) => {
    onPage(path === first ? "" : path);
    setTarget(path === first ? "" : path);
    if (target === (path === first ? "" : path)) setCount(count + 1); // a link has led away from it
  };
  const address = source !== null && "src" in source ? source.src : null;
  const finished = address !== null;
  const escape = useCallback(() => {
    (document.activeElement as HTMLElement | null)?.blur(); // keys go to the page around the preview again
    if (selecting) onSelecting(false);
    else setFull(false);
  }, [selecting, onSelecting]);
  const gestures = useRef({ onHandled, onTyped, onMoved });
  useLayoutEffect(() => {
    gestures.current = { onHandled, onTyped, onMoved };
  });
  const onPreviewMessage = useCallback(
    (said: PreviewMessage) => {
      if (said.heald === "escape") escape();
      else if (said.heald === "key") pressKey(said);
      if (!finished) return; // half a page is always wrong
      if (said.heald === "page" && said.path !== "_draft") {
        setMissing(said.missing ? said.path : "");
        onPage(foundPage(pages, said.path));
      } else if (said.heald === "outside") showToast(texts.aPreviewShowsThePages(said.address));
      else if (said.heald === "error") setErrors((now) => [...now, said.message].slice(-MOST));
      else if (said.heald === "console" && said.level === "error") setErrors((now) => [...now, said.message].slice(-MOST));
      else if (said.heald === "lost") onLost();
      else if (said.heald === "selected") {
        const { heald: _, selection, ...selected } = said;
        onSelected(selected, selection);
      } else if (said.heald === "handled") gestures.current.onHandled(said.style);
      else if (said.heald === "typed") gestures.current.onTyped(said.text);
      else if (said.heald === "layers") setLayers(said.layers);
      else if (said.heald === "moved") void gestures.current.onMoved(said).then((isMoved) => isMoved || setCommand({ heald: "unmove" }));
    },
    [onSelected, onLost, onPage, pages, finished, escape],
  );
  useKeys({ Escape: escape }, { isActive: full || selecting, typing: true, dialogs: true });
  const reload = () => {
    setStopped(false);
    setCount(count + 1);
  };
  useCommands([
    { name: texts.previewInFullScreen, icon: "expand", key: "f", run: () => setFull(!full) },
    { name: texts.previewDesktopWidth, icon: "desktop", run: () => setDevice("desktop") },
    { name: texts.previewTabletWidth, icon: "tablet", run: () => setDevice("tablet") },
    { name: texts.previewMobileWidth, icon: "mobile", run: () => setDevice("mobile") },
    { name: zoom === "fit" ? texts.previewFullSize : texts.previewFitToTheWindow, icon: "search", key: "z", run: () => setZoom(zoom === "fit" ? "full" : "fit") },
    { name: texts.reloadPreview, icon: "reload", key: "r", disabled: address === null, run: reload },
    { name: texts.selectAndEdit, icon: "pointer", key: "e", disabled: address === null, run: () => onSelecting(!selecting) },
    { name: layersOpen ? texts.hideTheLayers : texts.showTheLayers, icon: "layers", disabled: !selecting, run: () => setLayersOpen(!layersOpen) },
  ]);
  const narrow = useNarrow();
  const list = finished && pages.length > 0 && (
    <Pages pages={pages} at={page || first} disabled={onPages === null} words={words} missing={missing} onGo={go} onEdit={onPages ?? NOTHING} />
  );
  const tools = (
    <>
      {!narrow && pages.length < 2 && missing === "" && list}
      <IconButton icon={device} label={texts.widthChangeTo(device, wider(device))} className="width-step" onClick={() => setDevice(wider(device))} />
      <Segmented
        label={texts.width}
        value={device}
        onChange={setDevice}
        choices={[
          { value: "desktop", label: texts.desktop, icon: "desktop", bare: true },
          { value: "tablet", label: texts.tablet, icon: "tablet", bare: true },
          { value: "mobile", label: texts.mobile, icon: "mobile", bare: true },
        ]}
      />
      <Segmented
        label={texts.size}
        value={zoom}
        onChange={setZoom}
        choices={[
          { value: "fit", label: texts.fit },
          { value: "full", label: "100 %" },
        ]}
      />
      <span className="grow" />
      {errors.length > 0 && <ErrorList errors={errors} onFix={onFix === null ? null : () => onFix(errors)} />}
      <IconButton icon="pointer" label={texts.selectAndEdit} name="Edit" hint={texts.selectAndEditE} aria-pressed={selecting} disabled={address === null} onClick={() => onSelecting(!selecting)} />
      {selecting && <IconButton icon="layers" label={texts.layers} name="Layers" aria-pressed={layersOpen} onClick={() => setLayersOpen(!layersOpen)} />}
      <IconButton icon="reload" label={texts.reloadPreview} name="Reload" hint={texts.reloadPreviewR} disabled={address === null} onClick={reload} />
      {address !== null && (
        <a className="button icon quiet hide-small" href={address} target="_blank" rel="noopener noreferrer" aria-label={texts.openInItsOwnTab} data-tip={texts.openInItsOwnTab}>
          <Icon name="open" />
          <span className="button-name">{texts.open}</span>
        </a>
      )}
      <IconButton
        icon={full ? "close" : "expand"}
        label={full ? texts.leaveFullScreenEscape : texts.fullScreenF}
        name={full ? "Leave" : "Full screen"}
        aria-pressed={full}
        onClick={() => setFull(!full)}
      />
      <span className="bar-rule hide-small" aria-hidden="true" />
      <IconButton
        icon="unload"
        label={texts.unloadPreview}
        name="Unload"
        hint={texts.unloadPreviewEndsTheScripts}
        className="hide-small"
        disabled={source === null || stopped}
        onClick={() => setStopped(true)}
      />
    </>
  );
  const isShowing = source !== null && !stopped;
  return (
    <div className={`stage ${full ? "full" : ""}`} data-testid="stage">
      {full ? <div className="stage-bar row">{tools}</div> : bar !== null && createPortal(tools, bar)}
      {(pages.length > 1 || missing !== "") && list}
      {isShowing ? (
        <div className="stage-body">
          {selecting && layersOpen && (
            <LayerTree
              layers={layers}
              chosen={selection}
              onPick={(path, more) => setCommand({ heald: "pick", path, more })}
              onHover={(path) => setCommand({ heald: "hover", path })}
              onStep={(by) => setCommand({ heald: "step", by })}
              onClose={() => setLayersOpen(false)}
            />
          )}
          <div className="stage-page">
            {selecting && selection.length === 0 && (
              <p className="stage-hint" role="status">
                {texts.clickAnElementOrWalk}
              </p>
            )}
            <Fitted width={WIDTHS[device]} framed={device !== "desktop"} zoom={zoom}>
              <Frame
                source={source}
                title={texts.previewOfVariant(variant.index + 1)}
                count={count}
                selecting={selecting}
                selection={selection}
                layers={selecting && layersOpen}
                command={command}
                edit={edit}
                onPreviewMessage={onPreviewMessage}
              />
            </Fitted>
            {!isRunning(variant) && variant.status !== "completed" && <Notice variant={variant} onRetry={onRetry} />}
          </div>
          {selecting && selection.length === 0 && <EditHelp />}
          {children}
        </div>
      ) : (
        <div className="empty grow stage-message">
          {stopped ? (
            <>
              <p>{texts.thePreviewIsUnloaded}</p>
              <Button icon="reload" onClick={reload}>
                {texts.reloadIt}
              </Button>
            </>
          ) : (
            <Waiting variant={variant} onRetry={onRetry} />
          )}
        </div>
      )}
    </div>
  );
}

/** The path of the page that a preview reports, which may lack its ending; empty for the first page. */
function foundPage(pages: VariantView["pages"], path: string): string {
  const plain = path.replace(/\/$/, "");
  const names = [path, `${plain}.html`, `${plain}.htm`, `${plain}/index.html`];
  const at = pages.findIndex((page) => names.includes(page.path));
  return at === 0 || path === "index.html" ? "" : (pages[at]?.path ?? path);
}

/** Says over a page what is wrong with it. */
function Notice({ variant, onRetry }: { variant: VariantView; onRetry: (() => void) | null }) {
  return (
    <div className={`note stage-note ${variant.status === "failed" ? "error" : "warning"}`} role="status">
      <Icon name="alert" size={14} />
      <span className="grow">{errorOf(variant)}</span>
      {onRetry !== null && (
        <Button small icon="reload" onClick={onRetry}>
          {texts.retry}
        </Button>
      )}
    </div>
  );
}

/** Whether a key is wrong, missing or not allowed to do this. */
function isAboutKey(variant: VariantView): boolean {
  return ["authentication", "missing_key", "permission"].includes(variant.error?.code ?? "");
}

function Waiting({ variant, onRetry }: { variant: VariantView; onRetry: (() => void) | null }) {
  if (isRunning(variant)) {
    return (
      <>
        <span className="spinner" aria-hidden="true" />
        <p>{texts.appearsHere}</p>
      </>
    );
  }
  return (
    <div className="stack failure" role="alert">
      <Icon name="alert" size={24} />
      <h2>{variant.status === "cancelled" ? texts.thisVariantWasStopped : texts.noPageWasMade}</h2>
      <p>{errorOf(variant)}</p>
      {isAboutKey(variant) && <a href={addressOf("settings")}>{texts.keysAreInTheSettings}</a>}
      {onRetry !== null && (
        <Button look="primary" icon="reload" onClick={onRetry}>
          {texts.retry}
        </Button>
      )}
    </div>
  );
}

interface FittedProps {
  width: number;
  framed: boolean;
  zoom: Zoom;
  children: ReactNode;
}

/** A child of a fixed width, made smaller if there is less room, or scrolled in its full size. */
function Fitted({ width, framed, zoom, children }: FittedProps) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ width, height: 600 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const size = new ResizeObserver(() => setRoom({ width: element.clientWidth, height: element.clientHeight }));
    size.observe(element);
    return () => size.disconnect();
  }, []);
  const margin = framed && room.width > width + 32 ? 16 : 0;
  const inner = { width: room.width - 2 * margin, height: room.height - 2 * margin };
  const frameWidth = framed ? width : Math.max(width, room.width);
  const scale = zoom === "full" ? 1 : Math.min(1, inner.width / frameWidth);
  const left = Math.max(0, (room.width - frameWidth * scale) / 2);
  return (
    <div className={`fitted ${margin > 0 ? "framed" : ""} ${zoom}`} ref={box} data-testid="preview-room" {...(zoom === "full" ? { tabIndex: 0, role: "group", "aria-label": texts.previewInFullSize } : {})}>
      <div className="fitted-inner" style={{ width: frameWidth, height: inner.height / scale, transform: `scale(${scale})`, top: margin, left }}>
        {children}
      </div>
    </div>
  );
}

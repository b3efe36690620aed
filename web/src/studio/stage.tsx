/** The chosen variant, large: at three widths, with what its console says and what was pointed at in it. */

import { useCallback, useEffect, useRef, useState } from "react";
import { Button, IconButton } from "../parts/button";
import { plain } from "../parts/format";
import { Icon } from "../parts/icon";
import { Popover } from "../parts/menu";
import { Segmented } from "../parts/segmented";
import type { Prompt, VariantView } from "../wire/api";
import { Frame, type PreviewMessage } from "./frame";
import { useSource } from "./source";
import { errorOf } from "./variant_card";

const WIDTHS = { desktop: 1280, tablet: 768, mobile: 375 } as const;
type Device = keyof typeof WIDTHS;
const MOST = 100;
/** Milliseconds between two pictures of a page that grows. */
const PAUSE = 800;

interface Props {
  version: string;
  variant: VariantView;
  changes: boolean;
  selecting: boolean;
  onSelecting(on: boolean): void;
  onSelected(selected: NonNullable<Prompt["selected"]>): void;
}

export function Stage({ version, variant, changes, selecting, onSelecting, onSelected }: Props) {
  const source = useSource(variant, changes, PAUSE);
  const [device, setDevice] = useState<Device>("desktop");
  const [count, setCount] = useState(0);
  const [errors, setErrors] = useState<string[]>([]);
  const [listed, setListed] = useState(false);
  const [stopped, setStopped] = useState(false);
  const place = `${version}.${variant.index}`;
  useEffect(() => setErrors([]), [place, count]);
  useEffect(() => setStopped(false), [place]);
  const address = source !== null && "src" in source ? source.src : null;
  const finished = address !== null;
  const onPreviewMessage = useCallback(
    (said: PreviewMessage) => {
      if (!finished) return; // half a page is always wrong
      if (said.weft === "error") setErrors((now) => [...now, said.message].slice(-MOST));
      else if (said.weft === "console" && said.level === "error") setErrors((now) => [...now, said.message].slice(-MOST));
      else if (said.weft === "selected") {
        const { weft: _, ...selected } = said;
        onSelected(selected);
      }
    },
    [onSelected, finished],
  );
  return (
    <div className="stage">
      <div className="panel-bar row wrap">
        <Segmented
          label="Width"
          value={device}
          onChange={setDevice}
          choices={[
            { value: "desktop", label: "Desktop", icon: "desktop", bare: true },
            { value: "tablet", label: "Tablet", icon: "tablet", bare: true },
            { value: "mobile", label: "Mobile", icon: "mobile", bare: true },
          ]}
        />
        <IconButton
          icon="reload"
          label="Reload preview"
          disabled={address === null}
          onClick={() => {
            setStopped(false);
            setCount(count + 1);
          }}
        />
        <IconButton icon="stop" label="Stop preview" disabled={source === null || stopped} onClick={() => setStopped(true)} />
        {address !== null && (
          <a className="button icon quiet" href={address} target="_blank" rel="noopener noreferrer" aria-label="Open in its own tab" title="Open in its own tab">
            <Icon name="open" />
          </a>
        )}
        <span className="grow" />
        {errors.length > 0 && (
          <Popover
            open={listed}
            onClose={() => setListed(false)}
            button={
              <Button small look="danger" icon="alert" aria-expanded={listed} onClick={() => setListed(!listed)}>
                {errors.length} {errors.length === 1 ? "error" : "errors"}
              </Button>
            }
          >
            <div className="menu console" style={{ right: 0, top: "100%" }} role="region" aria-label="Console errors" tabIndex={0}>
              {errors.map((error, at) => (
                <pre key={at}>{plain(error)}</pre>
              ))}
            </div>
          </Popover>
        )}
        <Button small icon="pointer" aria-pressed={selecting} disabled={address === null} onClick={() => onSelecting(!selecting)}>
          Select and edit
        </Button>
      </div>
      <Fitted width={WIDTHS[device]} framed={device !== "desktop"}>
        {source === null || stopped ? (
          <div className="empty grow">{stopped ? <p>The preview is stopped; reload it to go on.</p> : <Waiting variant={variant} />}</div>
        ) : (
          <Frame key={place} source={source} title={`Preview of variant ${variant.index + 1}`} count={count} selecting={selecting} pause={PAUSE} onPreviewMessage={onPreviewMessage} />
        )}
      </Fitted>
    </div>
  );
}

function Waiting({ variant }: { variant: VariantView }) {
  if (variant.status === "running" || variant.status === "queued") {
    return (
      <>
        <span className="spinner" aria-hidden="true" />
        <p>The page appears here as it is written.</p>
      </>
    );
  }
  return (
    <>
      <Icon name="alert" size={20} />
      <p>{variant.status === "completed" ? "This variant made no page." : errorOf(variant)}</p>
    </>
  );
}

/** A child of a fixed width, made smaller if there is less room. */
function Fitted({ width, framed, children }: { width: number; framed: boolean; children: React.ReactNode }) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState({ width, height: 600 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const size = new ResizeObserver(() => setRoom({ width: element.clientWidth, height: element.clientHeight }));
    size.observe(element);
    return () => size.disconnect();
  }, []);
  const inner = framed ? { width: room.width - 32, height: room.height - 32 } : room;
  const scale = Math.min(1, inner.width / width);
  const shown = framed ? width : Math.max(width, room.width);
  const fit = framed ? scale : Math.min(1, room.width / shown);
  return (
    <div className={`fitted ${framed ? "framed" : ""}`} ref={box}>
      <div
        className="fitted-inner"
        style={{ width: shown, height: inner.height / fit, transform: `translateX(-50%) scale(${fit})`, top: framed ? 16 : 0 }}
      >
        {children}
      </div>
    </div>
  );
}

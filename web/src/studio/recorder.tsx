/** Records the screen, and shows the moments of a recording that models get. */

import { useEffect, useRef, useState } from "react";
import { Button } from "../parts/button";
import { showFailure, showToast } from "../parts/toasts";
import { useFetched } from "../shell/fetched";
import { recorder as texts } from "../texts/start";
import { post, route } from "../wire/rest";

const MOST_SECONDS = 60;
const TYPES = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm", "video/mp4"];

interface Frame {
  seconds: number;
  data: string;
}

export function canRecord(): boolean {
  return typeof MediaRecorder !== "undefined" && typeof navigator.mediaDevices?.getDisplayMedia === "function";
}

/** A button that records the screen until it is pressed once more, at most a minute. */
export function Recorder({ onRecorded }: { onRecorded(file: File): void }) {
  const [seconds, setSeconds] = useState<number | null>(null);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);
  const start = async () => {
    let stream: MediaStream;
    try {
      stream = await navigator.mediaDevices.getDisplayMedia({ video: true, audio: false });
    } catch {
      showToast(texts.nothingIsRecordedNoScreen, "error");
      return;
    }
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type)) ?? "";
    const recorder = new MediaRecorder(stream, mimeType === "" ? {} : { mimeType });
    const parts: Blob[] = [];
    recorder.ondataavailable = (event) => parts.push(event.data);
    const began = Date.now();
    const ticking = window.setInterval(() => {
      const passed = Math.round((Date.now() - began) / 1000);
      setSeconds(passed);
      if (passed >= MOST_SECONDS) stop.current?.();
    }, 500);
    stop.current = () => {
      stop.current = null;
      if (recorder.state !== "inactive") recorder.stop();
    };
    recorder.onstop = () => {
      window.clearInterval(ticking);
      for (const track of stream.getTracks()) track.stop();
      setSeconds(null);
      const type = recorder.mimeType.split(";")[0] ?? "video/webm";
      onRecorded(new File(parts, `recording.${type === "video/mp4" ? "mp4" : "webm"}`, { type }));
    };
    for (const track of stream.getTracks()) track.onended = () => stop.current?.();
    recorder.start(1000);
    setSeconds(0);
  };
  return seconds === null ? (
    <Button small look="quiet" icon="video" onClick={() => void start().catch(showFailure)}>
      {texts.recordTheScreen}
    </Button>
  ) : (
    <Button small look="danger" icon="stop" onClick={() => stop.current?.()}>
      {texts.stopRecordingS(seconds)}
    </Button>
  );
}

/** The moments of a recording that are sent. */
export function Storyboard({ id, data }: { id: string; data: string }) {
  const read = useFetched(`storyboard ${id} ${data.length}`, () => post<{ frames: Frame[] }>(route("studio", "storyboard"), { data }));
  if (read.error !== null) {
    return (
      <p className="note warning" role="alert">
        {read.error.message}
      </p>
    );
  }
  if (read.value === null) return <p className="faint">{texts.readingTheRecording}</p>;
  return (
    <figure className="storyboard">
      <figcaption className="faint">
        {texts.ofTheRecordingSent(read.value.frames.length)}
      </figcaption>
      <ol aria-label={texts.storyboard}>
        {read.value.frames.map((frame) => (
          <li key={frame.seconds}>
            <img src={frame.data} alt={texts.atS(frame.seconds.toFixed(1))} />
            <span className="faint numeric">{texts.s(frame.seconds.toFixed(1))}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}

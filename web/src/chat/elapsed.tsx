import { useEffect, useState } from "react";
import { elapsed as texts } from "../texts/chat";

/** The time in seconds, every second anew. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}

/** Seconds until a moment (in seconds), counting; nothing once it has come. */
export function Remaining({ until }: { until: number }) {
  const seconds = Math.ceil(until - useNow());
  return seconds > 0 ? <span className="numeric">{texts.inS(seconds)}</span> : null;
}

/** Seconds since a moment (in seconds), counting. */
export function Elapsed({ since }: { since: number }) {
  const now = useNow();
  const seconds = Math.max(0, Math.floor(now - since));
  return <span className="numeric">{seconds < 60 ? texts.s(seconds) : texts.minS(Math.floor(seconds / 60), seconds % 60)}</span>;
}

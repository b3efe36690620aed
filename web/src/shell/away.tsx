/** Says that the server is away. What is shown stays, and everything goes on by itself once the server is back. */

import { useEffect, useState } from "react";
import { useConnection, useLive } from "../live/hooks";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { away as texts } from "../texts/shell";

/** Grace period before the banner, in milliseconds. */
const SHORT = 1200;

/** Whether the server has been away for longer than a moment. */
export function useAway(): boolean {
  const state = useConnection();
  const [away, setAway] = useState(false);
  const open = state === "open" || state === "refused";
  useEffect(() => {
    if (open) {
      setAway(false);
      return undefined;
    }
    const timer = window.setTimeout(() => setAway(true), SHORT);
    return () => window.clearTimeout(timer);
  }, [open]);
  return away;
}

export function AwayBanner() {
  const away = useAway();
  const { socket } = useLive();
  if (!away) return null;
  return (
    <div className="away" role="alert" data-testid="away">
      <Icon name="alert" size={14} />
      <span className="grow">{texts.theServerCannotBeReached}</span>
      <Button small onClick={() => socket.reconnect()}>
        {texts.tryNow}
      </Button>
    </div>
  );
}

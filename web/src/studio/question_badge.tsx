/** On the card of a variant: its agent waits for a person, who decides in its conversation. */

import { useFollowed } from "../live/hooks";
import { questionBadge as texts } from "../texts/project";

/** Milliseconds between two looks. */
const PAUSE = 320;

export function QuestionBadge({ session }: { session: string }) {
  const followed = useFollowed(session, PAUSE);
  const count = followed === null ? 0 : followed.conversation.approvals.size;
  if (count === 0) return null;
  return (
    <span className="badge warn" role="status" title={texts.itAsksForAPermission}>
      {texts.asksYou}
    </span>
  );
}

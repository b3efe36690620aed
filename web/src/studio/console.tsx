/** What goes wrong in a preview: errors of its scripts, and files that it could not load. */

import { useState } from "react";
import { Button } from "../parts/button";
import { plain } from "../parts/format";
import { Popover } from "../parts/menu";
import { console as texts } from "../texts/project";

export function ErrorList({ errors, onFix }: { errors: readonly string[]; onFix: (() => void) | null }) {
  const [open, setOpen] = useState(false);
  return (
    <Popover
      open={open}
      onClose={() => setOpen(false)}
      button={
        <Button small look="danger" icon="alert" aria-expanded={open} onClick={() => setOpen(!open)}>
          {errors.length} {errors.length === 1 ? texts.error : texts.errors}
        </Button>
      }
    >
      <div className="menu console" style={{ right: 0, top: "100%" }} role="region" aria-label={texts.consoleErrors} tabIndex={0}>
        {errors.map((error, at) => (
          <pre key={at}>{plain(error)}</pre>
        ))}
        {onFix !== null && (
          <div className="console-foot">
            <Button
              small
              look="primary"
              icon="tool"
              onClick={() => {
                setOpen(false);
                onFix();
              }}
            >
              {texts.fixThis}
            </Button>
          </div>
        )}
      </div>
    </Popover>
  );
}

/** The request that lets an agent repair what goes wrong. */
export function repairText(errors: readonly string[]): string {
  const lines = [...new Set(errors)].slice(0, 20).map((error) => `- ${error.slice(0, 500)}`);
  return `The browser reports these errors on the page. Find their causes and repair them, and change nothing else:\n${lines.join("\n")}`;
}

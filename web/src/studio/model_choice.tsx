/** Which models build: none chosen means the server's own choice. */

import { useState } from "react";
import { Button } from "../parts/button";
import { Icon } from "../parts/icon";
import { Popover } from "../parts/menu";
import type { ModelView } from "../wire/api";

interface Props {
  models: readonly ModelView[];
  chosen: string[];
  onChange(chosen: string[]): void;
}

export function ModelChoice({ models, chosen, onChange }: Props) {
  const [open, setOpen] = useState(false);
  const words = chosen.length === 0 ? "Models: default" : chosen.length === 1 ? (chosen[0] ?? "") : `${chosen.length} models`;
  return (
    <Popover
      open={open}
      onClose={() => setOpen(false)}
      button={
        <Button aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)}>
          {words}
          <Icon name="down" size={14} />
        </Button>
      }
    >
      <div className="menu" role="menu" aria-label="Models" style={{ left: 0, top: "100%" }}>
        {models.map((model) => {
          const on = chosen.includes(model.name);
          return (
            <button
              key={model.name}
              type="button"
              role="menuitemcheckbox"
              aria-checked={on}
              disabled={model.available === false}
              onClick={() => onChange(on ? chosen.filter((name) => name !== model.name) : [...chosen, model.name])}
            >
              <span style={{ visibility: on ? "visible" : "hidden" }}>
                <Icon name="check" size={14} />
              </span>
              <span className="grow">{model.label || model.name}</span>
              {model.available === false && <span className="faint">no key</span>}
            </button>
          );
        })}
        {models.length === 0 && <span className="faint">No models.</span>}
      </div>
    </Popover>
  );
}

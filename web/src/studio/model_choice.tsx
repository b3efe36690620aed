/** Which models build. None chosen means the server's own choice, which is named. */

import { useMemo, useState } from "react";
import { Button } from "../parts/button";
import { tokens } from "../parts/format";
import { Icon } from "../parts/icon";
import { moveFocus, Popover } from "../parts/menu";
import { modelChoice as texts } from "../texts/start";
import type { ModelView } from "../wire/api";

interface Props {
  models: readonly ModelView[];
  /** What the server takes where nothing is chosen. */
  usual: readonly string[];
  chosen: readonly string[];
  onChange(chosen: string[]): void;
  /** The name of the choice of none, where `usual` is what is named. */
  automatic?: string;
  /** It opens upwards. */
  above?: boolean;
}

const MOST = 60;

export function ModelChoice({ models, usual, chosen, onChange, automatic, above = false }: Props) {
  const [open, setOpen] = useState(false);
  const [search, setSearch] = useState("");
  const groups = useMemo(() => groupsOf(models, search, chosen), [models, search, chosen]);
  const words = chosen.length === 0 && automatic !== undefined && usual.length > 0 ? [...new Set(usual)].map((name) => labelOf(models, name)).join(", ") : wordsOf(models, chosen, usual);
  const close = () => {
    setOpen(false);
    setSearch("");
  };
  const toggle = (name: string) => onChange(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
  return (
    <Popover
      open={open}
      onClose={close}
      button={
        <Button aria-haspopup="dialog" aria-expanded={open} title={words} onClick={() => (open ? close() : setOpen(true))}>
          <span className="truncate model-words">{texts.models(words)}</span>
          <Icon name="down" size={14} />
        </Button>
      }
    >
      <div className={`menu model-menu ${above ? "above" : ""}`} role="dialog" aria-label={texts.chooseModels}>
        <div className="row model-search">
          <Icon name="search" size={14} />
          <input
            type="search"
            aria-label={texts.searchModels}
            placeholder={texts.searchModels}
            autoFocus
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "ArrowDown") return;
              event.preventDefault();
              event.currentTarget.closest(".model-menu")?.querySelector<HTMLElement>('[role^="menuitem"]')?.focus();
            }}
          />
        </div>
        <div className="model-list" role="menu" aria-label={texts.modelsLabel} onKeyDown={moveFocus}>
          <button type="button" role="menuitemradio" aria-checked={chosen.length === 0} onClick={() => onChange([])}>
            <Mark on={chosen.length === 0} />
            <span className="stack model-name">
              <span>{automatic ?? texts.automatic}</span>
              <span className="faint model-id">{usual.length === 0 ? texts.noModelIsAvailable : usual.slice(0, 4).map((name) => labelOf(models, name)).join(", ")}</span>
            </span>
          </button>
          {groups.map(([provider, listed]) => (
            <div key={provider} role="group" aria-label={provider}>
              <div className="model-provider" aria-hidden="true">
                {provider}
              </div>
              {listed.map((model) => (
                <button
                  key={model.name}
                  type="button"
                  role="menuitemcheckbox"
                  aria-checked={chosen.includes(model.name)}
                  disabled={model.available === false}
                  onClick={() => toggle(model.name)}
                >
                  <Mark on={chosen.includes(model.name)} />
                  <span className="stack model-name">
                    <span className="truncate">{model.label || model.name}</span>
                    <span className="faint model-id truncate">{model.name}</span>
                  </span>
                  <Facts model={model} />
                </button>
              ))}
            </div>
          ))}
        </div>
        {groups.length === 0 && <p className="faint model-none">{models.length === 0 ? texts.noModels : texts.noModelOfThatName}</p>}
      </div>
    </Popover>
  );
}

function Mark({ on }: { on: boolean }) {
  return (
    <span className="model-mark" style={{ visibility: on ? "visible" : "hidden" }}>
      <Icon name="check" size={14} />
    </span>
  );
}

const SPEEDS = { fast: texts.fast, medium: "", slow: texts.thorough } as const;

function Facts({ model }: { model: ModelView }) {
  if (model.available === false) return <span className="faint">{texts.noKey}</span>;
  const input = model.input_usd_per_million;
  const output = model.output_usd_per_million;
  const free = input === 0 && output === 0;
  return (
    <span className="model-facts numeric">
      {input != null && output != null && (
        <span title={texts.dollarsForAMillionTokens}>{free ? texts.free : `$${figure(input)} / $${figure(output)}`}</span>
      )}
      {model.context_window != null && <span title={texts.contextSize}>{tokens(model.context_window)}</span>}
      {model.vision === false && <span className="badge warn">{texts.noPictures}</span>}
      {model.text === false && <span className="badge">{texts.picturesOnly}</span>}
      {model.speed !== undefined && SPEEDS[model.speed] !== "" && <span className="badge">{SPEEDS[model.speed]}</span>}
    </span>
  );
}

function figure(dollars: number): string {
  return dollars >= 10 ? dollars.toFixed(0) : dollars.toFixed(2).replace(/0$/, "").replace(/\.0$/, "");
}

export function labelOf(models: readonly ModelView[], name: string): string {
  return models.find((model) => model.name === name)?.label || name.split("/").at(-1) || name;
}

function wordsOf(models: readonly ModelView[], chosen: readonly string[], usual: readonly string[]): string {
  if (chosen.length === 0) return usual.length === 0 ? texts.none : texts.automaticChoice;
  return chosen.length === 1 ? labelOf(models, chosen[0] ?? "") : texts.chosen(chosen.length);
}

/** By provider, the newest first. Models for special purposes appear when they are searched for or chosen. */
function groupsOf(models: readonly ModelView[], search: string, chosen: readonly string[]): [string, ModelView[]][] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, ModelView[]>();
  let count = 0;
  for (const model of models) {
    const text = `${model.name} ${model.label ?? ""}`.toLowerCase();
    const isOffered = words.length > 0 ? words.every((word) => text.includes(word)) : model.is_general !== false || chosen.includes(model.name);
    if (!isOffered || (words.length > 0 && ++count > MOST)) continue;
    const provider = model.provider || (model.name.split("/")[0] ?? "");
    groups.set(provider, [...(groups.get(provider) ?? []), model]);
  }
  return [...groups];
}

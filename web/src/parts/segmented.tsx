/** One of a few, side by side. Arrow keys move, as in every group of radio buttons. */

import { useRef } from "react";
import { Icon, type IconName } from "./icon";

interface Choice<T extends string> {
  value: T;
  label: string;
  icon?: IconName;
  /** Only the icon is shown; the label is still said. */
  bare?: boolean;
}

interface Props<T extends string> {
  label: string;
  value: T;
  choices: readonly Choice<NoInfer<T>>[];
  onChange(value: NoInfer<T>): void;
  tabs?: boolean;
}

export function Segmented<T extends string>({ label, value, choices, onChange, tabs = false }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const move = (step: number) => {
    const at = choices.findIndex((choice) => choice.value === value);
    const next = choices[(at + step + choices.length) % choices.length];
    if (next === undefined) return;
    onChange(next.value);
    box.current?.querySelectorAll("button")[choices.indexOf(next)]?.focus();
  };
  return (
    <div
      ref={box}
      className="segmented"
      role={tabs ? "tablist" : "radiogroup"}
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key === "ArrowRight" || event.key === "ArrowDown") move(1);
        else if (event.key === "ArrowLeft" || event.key === "ArrowUp") move(-1);
        else return;
        event.preventDefault();
      }}
    >
      {choices.map((choice) => {
        const on = choice.value === value;
        const state = tabs ? { role: "tab", "aria-selected": on } : { role: "radio", "aria-checked": on };
        return (
          <button
            key={choice.value}
            type="button"
            {...state}
            tabIndex={on ? 0 : -1}
            data-tip={choice.icon === undefined ? undefined : choice.label}
            aria-label={choice.label}
            onClick={() => onChange(choice.value)}
          >
            {choice.icon && <Icon name={choice.icon} />}
            {!choice.bare && <span>{choice.label}</span>}
          </button>
        );
      })}
    </div>
  );
}

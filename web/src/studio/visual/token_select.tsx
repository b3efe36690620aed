/** Chooses one of the project's own colours or fonts for a field. */

import { tokenSelect as texts } from "../../texts/visual";
import type { Token } from "./picked_element";

interface Props {
  label: string;
  kind: Token["kind"];
  tokens: readonly Token[];
  value: string;
  onChange(code: string): void;
}

export function TokenSelect({ label, kind, tokens, value, onChange }: Props) {
  const choices = tokens.filter((token) => token.kind === kind);
  if (choices.length === 0) return null;
  const chosen = choices.find((token) => token.code === value);
  return (
    <select className="select small token-select" aria-label={texts.token(label)} value={chosen?.code ?? ""} onChange={(event) => onChange(event.target.value)}>
      <option value="" disabled>
        {texts.tokenLabel}
      </option>
      {choices.map((token) => (
        <option key={token.code} value={token.code}>
          {token.name} ({token.value})
        </option>
      ))}
    </select>
  );
}

/** The lines of one file that make an element, each with the number of what wrote it. */

import { plain } from "../../parts/format";
import { address } from "../../shell/route";
import { causeCode as texts } from "../../texts/cause";
import type { CauseLines } from "../../wire/api";

interface Props {
  project: string;
  version: string;
  part: CauseLines;
}

export function CauseCode({ project, version, part }: Props) {
  const [first, last] = [part.lines[0]?.number ?? 0, part.lines.at(-1)?.number ?? 0];
  const place = first === last ? texts.line(first) : texts.lines(first, last);
  return (
    <div className="cause-code">
      <p>
        <a href={address("project", project, "code", version, part.file)}>
          {part.file}, {place}
        </a>{" "}
        <span className="faint">{part.kind === "style" ? texts.style : texts.markup}</span>
      </p>
      <ol tabIndex={0} role="list" aria-label={`${part.file}, ${place}`}>
        {part.lines.map((line) => (
          <li key={line.number}>
            <span className={`cause-mark by-${line.writing % 5}`} title={texts.writtenBy(line.writing + 1)}>
              {line.writing + 1}
            </span>
            <span className="cause-number faint numeric">{line.number}</span>
            <code>{plain(line.text) || " "}</code>
          </li>
        ))}
      </ol>
      {part.cut > 0 && <p className="faint">{texts.andMoreLines(part.cut)}</p>}
    </div>
  );
}

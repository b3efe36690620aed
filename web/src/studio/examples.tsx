/** Things to build, to be chosen with a click: sentences, and screenshots. */

import { type Attachment, readFiles } from "../chat/attachments";
import type { StudioView } from "../wire/api";
import { blobAt } from "../wire/rest";

export type Example = StudioView["examples"][number];

interface Props {
  examples: readonly Example[];
  /** Where no model takes words, the examples are screenshots alone. */
  pictures: boolean;
  onChoose(example: Example): void;
}

export function Examples({ examples, pictures, onChoose }: Props) {
  if (examples.length === 0) return null;
  return (
    <section className="start-section" aria-labelledby="examples">
      <h2 id="examples">{pictures ? "Screenshots to try it with" : "Examples"}</h2>
      <div className="examples">
        {examples.map((example) => (
          <button key={example.name} type="button" className="example" onClick={() => onChoose(example)}>
            {example.thumbnail && <img src={example.thumbnail} alt="" loading="lazy" />}
            <span>{example.title}</span>
          </button>
        ))}
      </div>
    </section>
  );
}

/** The screenshot of an example, as if it had been dropped on the page. */
export async function pictureOf(example: Example): Promise<Attachment[]> {
  if (!example.thumbnail) return [];
  const picture = await blobAt(example.thumbnail);
  const { read } = await readFiles([new File([picture], example.name, { type: "image/png" })]);
  return read;
}

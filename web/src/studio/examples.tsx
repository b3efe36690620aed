import type { StudioView } from "../wire/api";

type Example = StudioView["examples"][number];

export function Examples({ examples, onChoose }: { examples: readonly Example[]; onChoose(example: Example): void }) {
  if (examples.length === 0) return null;
  return (
    <section className="start-section" aria-labelledby="examples">
      <h2 id="examples">Examples</h2>
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

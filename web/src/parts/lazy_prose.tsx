/** Text of a model. The parser of markdown is loaded with the first one; until then the text is shown as it was written. */

import { Suspense } from "react";
import { lazyPart } from "./lazy_part";

const Prose = lazyPart("prose", () => import("./prose").then((module) => module.Prose));

export function LazyProse({ text }: { text: string }) {
  return (
    <Suspense fallback={<div className="prose unparsed">{text}</div>}>
      <Prose text={text} />
    </Suspense>
  );
}

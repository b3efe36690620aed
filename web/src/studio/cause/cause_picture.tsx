/** The part of the screenshot that an element comes from, with its rectangle drawn on it. */

import { useState } from "react";
import { Button } from "../../parts/button";
import { address } from "../../shell/route";
import { causePicture as texts } from "../../texts/cause";
import { type CausePlace, projects } from "../../wire/api";

const WAYS = {
  text: texts.itsTextWasFoundHere,
  shape: texts.aMatchingShapeWasFound,
  position: texts.estimatedPlace,
} as const;

/** The least part of the picture's width that is shown around the rectangle. */
const LEAST = 0.35;

export function CausePicture({ project, version, place }: { project: string; version: string; place: CausePlace }) {
  const [whole, setWhole] = useState(false);
  const [x, y, width, height] = place.rect;
  const view = whole ? { x: 0, y: 0, width: place.width, height: place.height } : around(place);
  const line = view.width / 130; // of the drawing, so that it is equally thick at every size
  return (
    <figure className="cause-picture">
      <svg viewBox={`${view.x} ${view.y} ${view.width} ${view.height}`} role="img" aria-label={texts.screenshotRectangle(Math.round(x), Math.round(y), Math.round(width), Math.round(height))}>
        <image href={projects.target(project, place.picture)} width={place.width} height={place.height} preserveAspectRatio="none" />
        <path className="cause-shade" fillRule="evenodd" d={`M0 0h${place.width}v${place.height}h${-place.width}zM${x} ${y}v${height}h${width}v${-height}z`} />
        <rect className="cause-box" x={x - line} y={y - line} width={width + 2 * line} height={height + 2 * line} strokeWidth={line} />
      </svg>
      <figcaption className="row wrap">
        <span className="grow">{WAYS[place.found_by]}</span>
        <Button small look="quiet" aria-pressed={whole} onClick={() => setWhole(!whole)}>
          {texts.wholePicture}
        </Button>
        <a href={address("project", project, "compare", version)}>{texts.compare}</a>
      </figcaption>
    </figure>
  );
}

/** The part of the picture around a rectangle, at least as wide as the rectangle with a margin. */
function around({ rect: [x, y, width, height], ...picture }: CausePlace) {
  const wide = Math.min(picture.width, Math.max(1.3 * width, LEAST * picture.width));
  const tall = Math.min(picture.height, Math.max(1.3 * height, 0.6 * wide));
  const clamp = (start: number, most: number) => Math.max(0, Math.min(start, most));
  return { x: clamp(x + width / 2 - wide / 2, picture.width - wide), y: clamp(y + height / 2 - tall / 2, picture.height - tall), width: wide, height: tall };
}

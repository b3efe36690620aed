import * as dates from "./dates.js";

export function range(from, to) {
  return [from, to].map(dates.fmt).join(" - ");
}

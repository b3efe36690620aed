import { fmt } from "./dates.js";

export function eventLine(event) {
  return `${fmt(event.date)} ${event.title}`;
}

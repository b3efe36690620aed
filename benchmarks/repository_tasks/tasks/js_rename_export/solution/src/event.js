import { formatDate } from "./dates.js";

export function eventLine(event) {
  return `${formatDate(event.date)} ${event.title}`;
}

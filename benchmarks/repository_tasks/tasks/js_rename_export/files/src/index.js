export { fmt } from "./dates.js";
export { eventLine } from "./event.js";
export { range } from "./range.js";
export { visitors } from "./numbers.js";

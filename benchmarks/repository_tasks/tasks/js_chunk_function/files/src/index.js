export { unique, last } from "./lists.js";
export { clamp } from "./numbers.js";

export function clamp(number, low, high) {
  return Math.min(Math.max(number, low), high);
}

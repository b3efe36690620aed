const fmt = new Intl.NumberFormat("en-US");

export function visitors(count) {
  return `${fmt.format(count)} visitors`;
}

const formatDate = new Intl.NumberFormat("en-US");

export function visitors(count) {
  return `${formatDate.format(count)} visitors`;
}

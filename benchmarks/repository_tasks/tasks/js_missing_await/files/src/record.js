export function normalize(record) {
  return { ...record, name: record.name.trim() };
}

import { normalize } from "./record.js";

/** Stores all records and says how many there are. */
export async function importAll(records, store) {
  for (const record of records) {
    await store.save(normalize(record));
  }
  return `imported ${records.length}`;
}

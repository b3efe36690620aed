import { normalize } from "./record.js";

/** Stores all records and says how many there are. */
export async function importAll(records, store) {
  let count = 0;
  records.forEach(async (record) => {
    await store.save(normalize(record));
  });
  count = records.length;
  return `imported ${count}`;
}

/** A store for tests, as slow as a real one. */
export class MemoryStore {
  saved = [];

  async save(record) {
    await new Promise((resolve) => setTimeout(resolve, record.delay ?? 1));
    if (record.name === "") throw new Error("A record needs a name.");
    this.saved.push(record.name);
  }
}

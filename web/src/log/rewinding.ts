/** Which parts of a log are in force after rewinding, which may itself be undone by rewinding. */

/** Behind the first seq and up to the second; null is the log's end. */
type Span = readonly [number, number | null];

export class Course {
  private courses: { since: number; spans: readonly Span[] }[] = [];

  /** At event `at` the conversation went back to what it was at `seq`. */
  rewind(at: number, seq: number): void {
    const before = this.courses.findLast((course) => course.since <= seq)?.spans ?? [[0, null] as const];
    const kept = before.map(([after, upto]): Span => [after, upto ?? seq]);
    this.courses.push({ since: at, spans: [...kept, [at, null]] });
  }

  holds(seq: number): boolean {
    const now = this.courses.at(-1);
    return now === undefined || now.spans.some(([after, upto]) => after < seq && (upto === null || seq <= upto));
  }
}

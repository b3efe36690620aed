/** Calls the listeners of sessions that changed. Changes within a few frames are published together. */

export interface Pacing {
  /** Whether somebody sees what is published; a page in the background is published to less often. True by default. */
  isVisible?: (() => boolean) | undefined;
  /** Calls back with the next frame of the display. By default it calls back at once. */
  onFrame?: ((callback: () => void) => void) | undefined;
}

/** Milliseconds between two publications. Sessions that write at the same time are published together. */
const PACE = 40;
/** The same for a log that is still being read. */
const CATCHING_UP = 400;
/** The same while nobody sees it. */
const UNSEEN = 250;

export class ChangePublisher {
  private readonly changed = new Set<string>();
  private published = 0;
  private due = Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly isVisible: () => boolean;
  private readonly onFrame: (callback: () => void) => void;

  constructor(
    private readonly publish: (session: string) => void,
    pacing: Pacing,
  ) {
    const { isVisible = () => true, onFrame = (callback: () => void) => callback() } = pacing;
    this.isVisible = isVisible;
    this.onFrame = (callback) => onFrame(callback); // `requestAnimationFrame` must not be called as a method
  }

  /** Publish a change soon, or later where `soon` is false. */
  schedule(session: string, soon = true): void {
    this.changed.add(session);
    const pause = !this.isVisible() ? UNSEEN : soon ? PACE : CATCHING_UP;
    const due = soon ? this.published + pause : performance.now() + pause;
    if (due >= this.due) return;
    this.due = due;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.isVisible() ? this.onFrame(() => this.flush()) : this.flush()), Math.max(0, due - performance.now()));
  }

  stop(): void {
    clearTimeout(this.timer);
    this.changed.clear();
    this.due = Infinity;
  }

  private flush(): void {
    this.due = Infinity;
    this.published = performance.now();
    const changed = [...this.changed];
    this.changed.clear();
    for (const session of changed) this.publish(session);
  }
}

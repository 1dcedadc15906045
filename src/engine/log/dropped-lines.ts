/** The minimum time between two log lines about lost lines. */
const REPORT_INTERVAL_MS = 60_000;
const LINE_END = 0x0a;

/** Counts the lines that the log has lost. */
export class DroppedLines {
  #total = 0;
  #unreported = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  get total(): number {
    return this.#total;
  }

  /** @param bytes complete lines */
  add(bytes: Uint8Array): void {
    let lines = 0;
    for (let at = bytes.indexOf(LINE_END); at !== -1; at = bytes.indexOf(LINE_END, at + 1)) lines += 1;
    this.count(lines);
  }

  /** Adds lines that another thread has lost. */
  count(lines: number): void {
    this.#total += lines;
    this.#unreported += lines;
  }

  /** Returns the lines lost since the last report; 0 if there are none or the last report is too recent. */
  takeUnreportedCount(): number {
    const count = this.#unreported;
    if (count === 0 || performance.now() - this.#reportedAt < REPORT_INTERVAL_MS) return 0;
    this.#unreported = 0;
    this.#reportedAt = performance.now();
    return count;
  }
}

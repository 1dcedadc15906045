/**
 * A time limit that is begun again and again, with one timer: to make and clear one for each request would show in
 * the throughput.
 */
export class RestartableTimeout {
  readonly #ms: number;
  readonly #onOver: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;

  /** @param ms 0: there is none */
  constructor(ms: number, onOver: () => void) {
    this.#ms = ms;
    this.#onOver = onOver;
  }

  /** From now on, whether it runs or not. */
  start(): void {
    if (this.#ms === 0) return;
    this.#isRunning = true;
    if (this.#timer === undefined) this.#timer = setTimeout(() => this.#look(), this.#ms).unref();
    else this.#timer.refresh();
  }

  stop(): void {
    this.#isRunning = false;
  }

  /** It is begun no more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#isRunning = false;
  }

  #look(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#onOver();
  }
}

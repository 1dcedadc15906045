/** The values of a generator, computed once and on demand, for several readers. */
export class LazyList<T> {
  readonly #values: T[] = [];
  readonly #source: Iterator<T>;
  #isRunning = false;
  #isDone = false;

  constructor(source: Iterator<T>) {
    this.#source = source;
  }

  /** Returns a value; `undefined` if there are not enough, or if the generator itself asks for it while it runs. */
  at(index: number): T | undefined {
    while (index >= this.#values.length && !this.#isDone && !this.#isRunning) this.#advance();
    return this.#values[index];
  }

  /** Yields at most `count` values. */
  *take(count: number): Generator<T> {
    for (let index = 0; index < count; index += 1) {
      const value = this.at(index);
      if (value === undefined) return;
      yield value;
    }
  }

  #advance(): void {
    this.#isRunning = true;
    try {
      const { value, done } = this.#source.next();
      if (done) this.#isDone = true;
      else this.#values.push(value);
    } finally {
      this.#isRunning = false;
    }
  }
}

import { MAX_WORKERS } from '../shared-memory/worker-context.ts';
import { TOKEN_ERRORS, type TokenErrorCode } from './claims.ts';
import type { Verifier } from './verifier.ts';

type TokenResult = TokenErrorCode | 'valid';

const RESULTS: readonly TokenResult[] = ['valid', ...TOKEN_ERRORS];
/** The cells of one worker: a current number or a sum each, then the results of verifications. */
const FIELDS = ['hits', 'misses', 'entries', 'refused', 'verifying'] as const;

type Field = (typeof FIELDS)[number];

const CELLS = Object.fromEntries([...FIELDS, ...RESULTS].map((name, cell) => [name, cell])) as Record<
  Field | TokenResult,
  number
>;
const CELLS_PER_WORKER = FIELDS.length + RESULTS.length;
/** The first cell has the version of the keys. */
const FIRST_CELL = 1;
const BYTES = (FIRST_CELL + MAX_WORKERS * CELLS_PER_WORKER) * Float64Array.BYTES_PER_ELEMENT;

/** Returns the name and the size of the shared memory of the verifiers with a key. */
export function tokenBuffer(verifierKey: string): NonNullable<Verifier['buffer']> {
  return { name: `tokens/${verifierKey}`, bytes: BYTES };
}

/** The counts of a verifier, and the version of its keys. Each worker changes only its own counts; all workers can read their sums. */
export class TokenCounts {
  /** One cell: the version of the keys that verify tokens. The main thread changes it. */
  readonly keyVersion: Int32Array;
  readonly #cells: Float64Array;
  readonly #first: number;

  /** @param index of the worker */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(BYTES), index = 0) {
    this.keyVersion = new Int32Array(buffer, 0, 1);
    this.#cells = new Float64Array(buffer);
    this.#first = FIRST_CELL + index * CELLS_PER_WORKER;
  }

  /** Adds one. */
  add(field: 'hits' | 'misses' | TokenResult): void {
    (this.#cells[this.#first + CELLS[field]] as number) += 1;
  }

  set(field: 'entries' | 'refused' | 'verifying', value: number): void {
    this.#cells[this.#first + CELLS[field]] = value;
  }

  /** Returns the sum over all workers. */
  total(field: Field | TokenResult): number {
    let sum = 0;
    for (let at = FIRST_CELL + CELLS[field]; at < this.#cells.length; at += CELLS_PER_WORKER)
      sum += this.#cells[at] as number;
    return sum;
  }

  /** Returns how often each result occurred in all workers. */
  get results(): ReadonlyMap<TokenResult, number> {
    return new Map(RESULTS.map((result) => [result, this.total(result)] as const).filter(([, count]) => count > 0));
  }
}

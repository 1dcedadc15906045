import type { TokenErrorCode } from './claims.ts';
import type { Verifier } from './verifier.ts';

type TokenResult = TokenErrorCode | 'valid';

/** The cells of one worker: a current number or a sum each, then the results of verifications. */
const CELLS = { hits: 0, misses: 1, entries: 2, refused: 3, verifying: 4 } as const;
const RESULT_CELLS: Readonly<Record<TokenResult, number>> = {
  valid: 5,
  token_malformed: 6,
  token_inactive: 7,
  token_expired: 8,
  token_not_yet_valid: 9,
  type_wrong: 10,
  issuer_wrong: 11,
  audience_wrong: 12,
  algorithm_not_allowed: 13,
  key_unknown: 14,
  signature_wrong: 15,
  claims_wrong: 16,
  keys_unavailable: 17,
};
const CELLS_PER_WORKER = 18;
/** The first cell has the version of the keys. */
const FIRST_CELL = 1;
/** The most workers that a manifest can configure. */
const MAX_WORKERS = 64;

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
  add(field: 'hits' | 'misses'): void {
    (this.#cells[this.#first + CELLS[field]] as number) += 1;
  }

  addResult(result: TokenResult): void {
    (this.#cells[this.#first + RESULT_CELLS[result]] as number) += 1;
  }

  set(field: 'entries' | 'refused' | 'verifying', value: number): void {
    this.#cells[this.#first + CELLS[field]] = value;
  }

  /** Returns the sum over all workers. */
  total(field: keyof typeof CELLS): number {
    return this.#sum(CELLS[field]);
  }

  /** Returns how often each result occurred in all workers. */
  get results(): ReadonlyMap<TokenResult, number> {
    const results = Object.entries(RESULT_CELLS) as [TokenResult, number][];
    return new Map(
      results.map(([result, cell]) => [result, this.#sum(cell)] as const).filter(([, count]) => count > 0),
    );
  }

  #sum(cell: number): number {
    let sum = 0;
    for (let at = FIRST_CELL + cell; at < this.#cells.length; at += CELLS_PER_WORKER) sum += this.#cells[at] as number;
    return sum;
  }
}

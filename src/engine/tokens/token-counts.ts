import { TOKEN_ERRORS, type TokenErrorCode } from '../gateway/response/refusal.ts';
import { MAX_WORKERS } from '../shared-memory/worker-context.ts';
import { WorkerRows } from '../shared-memory/worker-rows.ts';
import type { MethodVerifier } from './verifier.ts';

type TokenResult = TokenErrorCode | 'valid';

const RESULTS: readonly TokenResult[] = ['valid', ...TOKEN_ERRORS];
/** The column of the tokens that were in a cache. */
export const HITS = 0;
const NAMES = ['hits', 'misses', 'entries', 'refused', 'verifying', ...RESULTS] as const;
/** The first cell has the version of the keys. */
const ROWS_AT = Float64Array.BYTES_PER_ELEMENT;
const BYTES = ROWS_AT + MAX_WORKERS * NAMES.length * Float64Array.BYTES_PER_ELEMENT;

/** Returns the name and the size of the shared memory of the verifiers with a key. */
export function tokenBuffer(verifierKey: string): MethodVerifier['buffer'] {
  return { name: `tokens/${verifierKey}`, bytes: BYTES };
}

/** The counts of a verifier, and the version of its keys. */
export class TokenCounts extends WorkerRows<(typeof NAMES)[number]> {
  /** One cell: the version of the keys that verify tokens. The main thread changes it. */
  readonly keyVersion: Int32Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(BYTES), workerIndex = 0) {
    super(new Float64Array(buffer, ROWS_AT), NAMES, workerIndex);
    this.keyVersion = new Int32Array(buffer, 0, 1);
  }

  /** Returns how often each result occurred in all workers. */
  get results(): ReadonlyMap<TokenResult, number> {
    return new Map(RESULTS.map((result) => [result, this.sum(result)] as const).filter(([, count]) => count > 0));
  }
}

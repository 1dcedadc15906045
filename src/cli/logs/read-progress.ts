import type { ReadProgress } from '../../candidate/log/read-logs.ts';
import type { Terminal } from '../terminal.ts';

/** More frequent updates would cost time and flicker. */
const INTERVAL_MS = 100;
const CLEAR_LINE = '\r\x1b[K';
const BYTES_PER_MB = 1_000_000;

/** Shows on a terminal how much of the logs has been read. `end` removes the line. */
export function showReadProgress({ err, errIsTerminal }: Pick<Terminal, 'err' | 'errIsTerminal'>): {
  readonly update: ((progress: ReadProgress) => void) | undefined;
  readonly end: () => void;
} {
  if (!errIsTerminal) return { update: undefined, end: () => undefined };
  let shownAt = Number.NEGATIVE_INFINITY;
  const update = ({ bytes, totalBytes }: ReadProgress) => {
    const now = performance.now();
    if (now - shownAt < INTERVAL_MS) return;
    shownAt = now;
    const megabytes = `${Math.floor(bytes / BYTES_PER_MB)} MB`;
    const share = totalBytes ? `${Math.min(100, Math.floor((100 * bytes) / totalBytes))} %, ${megabytes}` : megabytes;
    err(`${CLEAR_LINE}reading the logs: ${share}`);
  };
  return { update, end: () => err(CLEAR_LINE) };
}

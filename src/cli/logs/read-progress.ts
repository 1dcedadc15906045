import type { ReadProgress } from '../../traffic/access-log/read-logs.ts';
import type { Terminal } from '../terminal.ts';

/** More frequent updates would cost time and flicker. */
const INTERVAL_MS = 100;
const CLEAR_LINE = '\r\x1b[K';
const BYTES_PER_MB = 1_000_000;

/** Shows the progress if standard error is a terminal. */
export function showProgress({ err, errIsTerminal }: Pick<Terminal, 'err' | 'errIsTerminal'>) {
  let shownAt = Number.NEGATIVE_INFINITY;
  const show = (text: () => string) => {
    const now = performance.now();
    if (!errIsTerminal || now - shownAt < INTERVAL_MS) return;
    shownAt = now;
    err(CLEAR_LINE + text());
  };
  return {
    reading: (progress: ReadProgress) => show(() => `reading the logs: ${formatRead(progress)}`),
    /** Returns the listener of a later step. */
    working: (step: string) => (done: number, total: number) => show(() => `${step}: ${done} of ${total}`),
    end: () => errIsTerminal && err(CLEAR_LINE),
  };
}

function formatRead({ bytes, totalBytes }: ReadProgress): string {
  const megabytes = `${Math.floor(bytes / BYTES_PER_MB)} MB`;
  return totalBytes ? `${Math.min(100, Math.floor((100 * bytes) / totalBytes))} %, ${megabytes}` : megabytes;
}

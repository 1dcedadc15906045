import type { Log } from '../log.ts';

const INTERVAL_MS = 10_000;

/** Counts connections that were closed for being too many. The first is told of at once, those behind it together. */
export function countDropped(logger: Log['logger']): () => void {
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const tell = () => {
    timer = undefined;
    if (count === 0) return;
    logger.warn({ count }, 'connections over the limit were closed');
    count = 0;
    timer = setTimeout(tell, INTERVAL_MS).unref();
  };
  return () => {
    count += 1;
    if (timer === undefined) tell();
  };
}

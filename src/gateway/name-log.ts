import type { NameResolver } from '../dns/resolver.ts';
import type { Log } from '../log.ts';

/** Logs host names that begin to fail or resolve again: one line for each change, not for each request. @returns ends it */
export function logNames(resolver: NameResolver, logger: Log['logger']): () => void {
  return resolver.subscribe((name, reason) => {
    if (reason === undefined) logger.warn({ name }, 'host name resolves again');
    else logger.warn({ name, reason }, 'host name does not resolve');
  });
}

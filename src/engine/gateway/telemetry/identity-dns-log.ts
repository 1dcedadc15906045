import type { NameResolver } from '../../dns/name-resolver.ts';
import { hostOf } from '../../http1/dial.ts';
import type { Log } from '../../log/log.ts';
import type { Plan } from '../../plan/plan.ts';

/**
 * Logs when the host name of an identity service stops resolving or resolves again. The host names of upstreams are logged
 * with their endpoints. No line contains the host name, because it may come from the environment.
 *
 * @returns a function that stops the logging
 */
export function logIdentityDnsErrors(resolver: NameResolver, logger: Log['logger'], active: () => Plan): () => void {
  return resolver.subscribe((name, reason) => {
    const { auth, upstreams } = active();
    const isUpstream = upstreams.some(({ endpoints }) => endpoints.some(({ url }) => hostOf(url) === name));
    if (auth === undefined || isUpstream) return;
    if (reason === undefined) logger.warn('host name of an identity service resolves again');
    else logger.warn({ reason }, 'host name of an identity service does not resolve');
  });
}

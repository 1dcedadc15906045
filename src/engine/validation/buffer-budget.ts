import type { Manifest } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import type { ParsedRoute } from '../plan/route.ts';
import { errorAt, type Finding } from '../problem/finding.ts';

/** Reports routes whose body limit exceeds the share of the buffer memory that one client may use. */
export function findBodiesOverBudget({ server }: Manifest, routes: readonly ParsedRoute[], findings: Finding[]): void {
  const { bufferedBodies } = server.limits;
  for (const { entry, index } of routes) {
    const { body, login } = entry;
    const buffered = { body: body?.schema === undefined ? undefined : body.maxBytes, login: login?.maxBytes };
    for (const [key, size] of Object.entries(buffered)) {
      if (size === undefined || sizeBytes(size) * 2 <= sizeBytes(bufferedBodies)) continue;
      const message = `this exceeds the share of one client, which is half of server.limits.bufferedBodies (${bufferedBodies}); lower this limit, or raise that one`;
      findings.push(errorAt(['routes', index, key, 'maxBytes'], 'server-limit', message));
    }
  }
}

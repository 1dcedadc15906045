import { pino } from 'pino';
import type { NameResolver } from '../../src/engine/dns/name-resolver.ts';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import type { Log } from '../../src/engine/log/log.ts';
import { createMemoryEnvironment } from '../../src/engine/manifest/source.ts';
import { AUDIENCE, ISSUER } from './issuer.ts';

export interface TestGateway {
  readonly url: string;
  readonly port: number;
  readonly gateway: Gateway;
  readonly log: Log;
  /** The active plan and the manifest that it was compiled from. */
  planned(): PlannedManifest;
  /** The lines of the access log so far, parsed. */
  readonly lines: Record<string, unknown>[];
  /** The other log lines so far, parsed. */
  readonly told: Record<string, unknown>[];
  /** Activates another manifest. */
  swap(manifest: string): void;
  close(): Promise<void>;
}

/**
 * Starts a gateway for this manifest on a free port. Its log stays in memory.
 *
 * @param now the clock of rate limits
 */
export async function startGateway(
  manifest: string,
  env: Record<string, string> = {},
  files: Record<string, string> = {},
  resolver?: NameResolver,
  now?: () => number,
): Promise<TestGateway> {
  let planned: PlannedManifest;
  const planOf = (text: string) => {
    const loaded = load({ path: 'gateway.yaml', text }, createMemoryEnvironment(env, files));
    const { plan, problems } = loaded;
    if (plan !== undefined) {
      if (plan.listen.port !== 0) throw new Error('a gateway of a test listens on port 0');
      planned = loaded;
      return plan;
    }
    throw new Error(problems.map(({ range, message }) => `${range.line}:${range.column} ${message}`).join('\n'));
  };
  const lines: Record<string, unknown>[] = [];
  const logEntries: Record<string, unknown>[] = [];
  const log: Log = {
    logger: pino({ base: null }, { write: (line: string) => void logEntries.push(JSON.parse(line)) }),
    writeLine: (json) => void lines.push(JSON.parse(json)),
    flush: () => undefined,
  };
  const gateway = createGateway(planOf(manifest), log, { resolver, now });
  const { port } = await gateway.listen();
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    gateway,
    log,
    planned: () => planned,
    lines,
    told: logEntries,
    swap: (text) => gateway.activate(planOf(text)),
    close: () => gateway.close(0),
  };
}

export { createMemoryEnvironment as worldOf };

/** Returns a manifest with these routes. `up` is the URL of its only upstream, `jwks` that of the keys. */
export function manifest(
  routes: string,
  {
    up,
    jwks = 'http://127.0.0.1:9/jwks.json',
    timeouts = '{}',
    server = '{}',
  }: { up: string; jwks?: string; timeouts?: string; server?: string },
): string {
  return `version: 1
listen: 127.0.0.1:0
server: ${server}
upstreams:
  up: { url: '${up}', timeouts: ${timeouts} }
auth:
  tokens:
    jwt: { jwks: '${jwks}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
routes:
${routes}`;
}

export const PUBLIC_ALL = `  - { id: all, method: any, path: /**, upstream: up, access: public }
`;

import { startGateway, type TestGateway } from './gateway.ts';
import { type Respond, startUpstream, type Upstream } from './upstream.ts';

export const SECRET = 'a secret of the gateways of a test';

export interface SharedGateways {
  readonly gateways: readonly TestGateway[];
  readonly upstream: Upstream;
  /** Sends a login to one of the gateways, and returns the status of the response. */
  login(index: number, email: string, password?: string): Promise<number>;
  /** Sends logins with a wrong password to all gateways in parallel, and returns the number of each status. */
  guess(count: number, email: string): Promise<Record<number, number>>;
  /** Activates another manifest on all gateways. */
  swap(limits: string, stores: string): void;
  close(): Promise<void>;
}

export interface SharedOptions {
  readonly stores: string;
  readonly limits?: string;
  readonly count?: number;
  readonly env?: Record<string, string>;
  readonly files?: Record<string, string>;
  readonly respond?: Respond;
  /** Returns the clock of a gateway. */
  readonly clockOf?: (index: number) => () => number;
}

/** Five failures of an account. A long timeout: a busy machine must not cause a fallback in tests of other topics. */
export const ACCOUNT =
  'account: { key: { body: /email, fold: case }, missing: refuse, allow: 5 per 15m, count: failures, store: counters }';

/** Returns the `stores` of a manifest with one store. */
export function storeAt(redis: string, rest = 'timeout: 2s'): string {
  return `counters: { redis: ${redis}, secret: '\${SECRET}', ${rest} }`;
}

const checkPassword: Respond = (_request, response, body) => {
  const { password } = JSON.parse(body.toString());
  response.statusCode = password === 'right' ? 200 : 401;
  response.end();
};

/** Starts gateways that share a store, in front of one upstream with a login. */
export async function startSharedGateways(options: SharedOptions): Promise<SharedGateways> {
  const { stores, limits = ACCOUNT, count = 3, env = {}, files = {}, respond = checkPassword, clockOf } = options;
  const upstream = await startUpstream(respond);
  const manifestOf = (limitLines: string, storeLines: string) => `version: 1
listen: 127.0.0.1:0
upstreams: { identity: { url: '${upstream.url}' } }
stores: { ${storeLines} }
rateLimits: { ${limitLines} }
routes:
  - id: login
    method: POST
    path: /login
    upstream: identity
    access: public
    rateLimits: [account]
    body:
      maxBytes: 4KB
      schema: { type: object, required: [email, password], properties: { email: { type: string }, password: { type: string } } }
`;
  const start = (_: unknown, index: number) =>
    startGateway(manifestOf(limits, stores), { SECRET, ...env }, files, undefined, clockOf?.(index));
  const gateways = await Promise.all(Array.from({ length: count }, start));
  const login = async (index: number, email: string, password = 'wrong') => {
    const response = await fetch(`${gateways[index % count]?.url}/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    await response.arrayBuffer();
    return response.status;
  };
  return {
    gateways,
    upstream,
    login,
    guess: async (guesses, email) => {
      const statuses = await Promise.all(Array.from({ length: guesses }, (_, index) => login(index, email)));
      const counts: Record<number, number> = {};
      for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    },
    swap: (limitLines, storeLines) => {
      for (const gateway of gateways) gateway.swap(manifestOf(limitLines, storeLines));
    },
    close: async () => {
      await Promise.all(gateways.map((gateway) => gateway.close()));
      await upstream.close();
    },
  };
}

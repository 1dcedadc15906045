import { isLoopback } from '../../../engine/dns/loopback.ts';
import type { Manifest } from '../../../engine/manifest/manifest.generated.ts';
import { durationMs } from '../../../engine/manifest/units.ts';
import { loggedSecrets } from '../lint-context.ts';
import { besideRoute, findingAt, findingAtKey, rulesOf } from '../rule.ts';

const CLIENT_TIMEOUT_LIMITS = { headers: '60s', stalled: '5m' } as const;

/** Longer than the default idle timeouts of an AWS ALB (60 s) and of nginx (60 s); that of Envoy is one hour. */
const MIN_KEEP_ALIVE_MS = 61_000;

/** Rules for addresses, timeouts, the log and the admin API. */
export const OPERATION_RULES = rulesOf('operations', {
  'admin-missing': {
    level: ['info', 'strict'],
    rationale:
      'Without the admin API, probes cannot check whether the gateway is ready, and operators cannot see which manifest is active.',
    *find({ plan }) {
      if (plan.admin === undefined)
        yield findingAt([], 'the gateway has no admin API for health checks and metrics; add admin: 127.0.0.1:9901');
    },
  },
  'admin-plain': {
    level: ['warning', 'recommended'],
    rationale:
      'Anyone who can read the network traffic obtains the admin token, and with it full access to the admin API.',
    *find({ plan: { admin } }) {
      if (admin === undefined || admin.tls !== undefined || isLoopback(admin.host)) return;
      yield findingAt(['admin'], 'the admin token crosses the network in plain text; add tls:');
    },
  },
  'certificate-validity': {
    level: ['warning', 'minimal'],
    rationale:
      'The gateway serves a manifest with a certificate that expired or is not valid yet, but handshakes that need it fail.',
    *find({ plan, nowMs }) {
      for (const { path, problemAt } of plan.certificates) {
        const problem = problemAt(nowMs);
        if (problem !== undefined) yield findingAt(path, `${problem}; renew or remove it`);
      }
    },
  },
  'client-timeout-long': {
    level: ['warning', 'recommended'],
    rationale:
      'A client that sends or reads almost nothing holds its connection for this long, and a few thousand of them exhaust the connection limit.',
    *find({ manifest }) {
      for (const [step, limit] of Object.entries(CLIENT_TIMEOUT_LIMITS)) {
        const configured = manifest.server.timeouts[step as keyof typeof CLIENT_TIMEOUT_LIMITS];
        if (durationMs(configured) > durationMs(limit))
          yield findingAt(
            ['server', 'timeouts', step],
            `a slow client holds its connection for ${configured}; write ${limit} or less`,
          );
      }
    },
  },
  'keep-alive-short': {
    level: ['warning', 'recommended'],
    rationale:
      'If the gateway closes an idle connection while a load balancer sends a request on it, the client of the load balancer gets a 502 response.',
    *find({ manifest, plan }) {
      if (plan.server.keepAliveTimeoutMs >= MIN_KEEP_ALIVE_MS) return;
      const { keepAlive } = manifest.server.timeouts;
      const message = `a load balancer keeps idle connections longer than ${keepAlive} and would send a request on a closed one; write more than its own timeout, for example 620s`;
      yield findingAt(['server', 'timeouts', 'keepAlive'], message);
    },
  },
  'listen-exposed': {
    level: ['info', 'recommended'],
    rationale:
      'Without TLS anyone on the network path can read tokens and passwords, unless a proxy in front of the gateway terminates TLS.',
    *find({ plan }) {
      if (isLoopback(plan.listen.host) || plan.server.tls !== undefined) return;
      yield findingAt(
        ['listen'],
        'other machines reach this address over plain HTTP; add server: { tls: … }, or listen on 127.0.0.1 behind a local TLS proxy',
      );
    },
  },
  'listen-privileged': {
    level: ['info', 'strict'],
    rationale: 'On most systems only root may bind ports below 1024, and a gateway should not run as root.',
    *find({ plan, secrets }) {
      for (const key of ['listen', 'admin'] as const) {
        const port = plan[key]?.port ?? 0;
        if (port > 0 && port < 1024)
          yield findingAt(
            [key],
            `${secrets.isSecret([key]) ? 'this port' : `port ${port}`} requires privileges that a gateway should not have; write a port of 1024 or above`,
          );
      }
    },
  },
  'log-paths-plain': {
    level: ['warning', 'recommended'],
    rationale: 'The path of a public download may be its only secret, and everyone who reads the log could use it.',
    *find({ manifest, routes }) {
      const [first] = loggedSecrets(routes);
      if (manifest.log.paths !== 'plain' || first === undefined) return;
      yield findingAt(
        ['log', 'paths'],
        `the log has the parameters of public paths such as ${first.route.path}, which may be secret; write keyed, or remove "paths"`,
        besideRoute(first, 'a public path with parameters'),
      );
    },
  },
  'log-secret-missing': {
    level: ['warning', 'recommended'],
    rationale:
      'Without a secret each process has its own key, so the surrogates of two processes, or of one before and after a restart, differ.',
    *find({ manifest, routes }) {
      const { paths, replay, secret } = manifest.log;
      if (secret !== undefined) return;
      const isKeyed = paths === 'keyed' || (paths === undefined && replay && loggedSecrets(routes).length > 0);
      if (!isKeyed) return;
      const key: keyof Manifest['log'] = paths === undefined ? 'replay' : 'paths';
      yield findingAtKey(
        ['log', key],
        'the surrogates in paths change with each process, so lines of two processes cannot be compared; add secret: ${LOG_SECRET}',
      );
    },
  },
  'proxy-trust-socket': {
    level: ['warning', 'recommended'],
    rationale:
      'The clients of a unix socket have no address, so none of them is a trusted proxy, and the gateway ignores their forwarding headers.',
    *find({ plan }) {
      if (plan.listen.socket === undefined || plan.server.trustedProxies === undefined) return;
      yield findingAtKey(
        ['server', 'trustedProxies'],
        'no client of a unix socket has one of these addresses; listen on a loopback address, or remove "trustedProxies"',
        { related: { path: ['listen'], message: 'the unix socket' } },
      );
    },
  },
  'proxy-trust-wide': {
    level: ['warning', 'minimal'],
    rationale: 'A trusted peer can claim any client address, and the log and the upstreams believe it.',
    *find({ manifest }) {
      for (const [index, block] of manifest.server.trustedProxies.entries()) {
        const [address = '', bits] = block.split('/');
        const minBits = address.includes(':') ? 16 : 8;
        if (bits !== undefined && Number(bits) < minBits)
          yield findingAt(
            ['server', 'trustedProxies', index],
            'this block trusts almost every client; write the addresses of the proxies',
          );
      }
    },
  },
});

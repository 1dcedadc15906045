import { freePort } from '../support/free-port.ts';
import { pause } from '../support/pause.ts';
import { type LoadResult, startLoad } from './load.ts';
import { startProcess } from './process.ts';
import { Site } from './site.ts';

const REQUESTS_PER_SECOND = 100;
const RELOAD_INTERVAL_MS = 100;

/** The manifests that take turns, each with the status of its responses by path. */
type Cycle = readonly {
  readonly text: (version: number) => string;
  readonly statuses: Readonly<Record<string, number>>;
}[];

/**
 * Sends requests at a constant rate while the manifest is reloaded every 100 ms: a route appears and disappears, the upstream
 * moves, a route becomes protected. Each response must match a manifest that was active during the request. Returns true on failure.
 */
export async function reportSoak(
  upstreams: readonly [string, string],
  seconds: number,
  workers: number,
  print: (text: string) => void,
): Promise<boolean> {
  const site = new Site(upstreams[0], await freePort(), workers);
  const cycle = createCycle(site, upstreams);
  const manifestOf = (version: number) => cycle[version % cycle.length] as Cycle[number];
  site.write('gateway.yaml', manifestOf(0).text(0));
  const serving = await startProcess(site.path, site.admin);
  site.serving = serving;
  let written = 0;
  let acknowledged = 0;
  const failed: string[] = [];
  const onSend = () => {
    const least = acknowledged;
    return (result: LoadResult) => {
      const isExpected = range(least, written).some(
        (version) => manifestOf(version).statuses[result.path] === result.status,
      );
      if (!isExpected)
        failed.push(`${result.path}: ${result.failure ?? result.status} between ${least} and ${written}`);
    };
  };
  const traffic = startLoad(serving.port, REQUESTS_PER_SECOND, ['/always', '/sometimes', '/guarded'], onSend);
  const start = performance.now();
  let rejected = 0;
  try {
    while (performance.now() - start < seconds * 1000) {
      const next = performance.now() + RELOAD_INTERVAL_MS;
      written += 1;
      site.replace('gateway.yaml', manifestOf(written).text(written));
      const before = serving.reloads.length;
      await serving.reload();
      // Reloads of the watcher are earlier or of this version, so the saved manifest is active now.
      if (serving.reloads.slice(before).some(({ kind }) => kind !== 'accepted')) rejected += 1;
      acknowledged = written;
      await pause(Math.max(0, next - performance.now()));
    }
    const { sent } = await traffic.stop();
    const percent = (((sent - failed.length) / sent) * 100).toFixed(2);
    print('| requests | reloads | rejected | responses of an active manifest |\n|---|---|---|---|\n');
    print(`| ${sent} | ${written} | ${rejected} | ${percent} % |\n\n`);
    for (const message of failed.slice(0, 10)) print(`    ${message}\n`);
  } finally {
    await site.close();
  }
  return failed.length > 0 || rejected > 0;
}

function createCycle(site: Site, [one, two]: readonly [string, string]): Cycle {
  const auth = `auth:
  tokens: { jwt: { jwks: 'http://127.0.0.1:9/', algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin], message: no }
`;
  const text = (up: string, hasRoute: boolean, access: string) => (version: number) =>
    `${site.head().replace(one, up)}${auth}# ${version}\nroutes:\n${[
      '  - { id: always, method: GET, path: /always, upstream: up, access: public }',
      ...(hasRoute ? ['  - { id: sometimes, method: GET, path: /sometimes, upstream: up, access: public }'] : []),
      `  - { id: guarded, method: GET, path: /guarded, upstream: up, access: ${access} }`,
    ].join('\n')}\n`;
  const statuses = { '/always': 200, '/sometimes': 404, '/guarded': 200 };
  return [
    { text: text(one, false, 'public'), statuses },
    { text: text(one, true, 'public'), statuses: { ...statuses, '/sometimes': 200 } },
    { text: text(one, false, 'public'), statuses },
    { text: text(two, false, 'public'), statuses },
    { text: text(two, false, 'protected'), statuses: { ...statuses, '/guarded': 401 } },
  ];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

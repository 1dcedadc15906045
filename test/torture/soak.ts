import { freePort } from '../support/free-port.ts';
import { type Got, startLoad } from './load.ts';
import { startProcess } from './process.ts';
import { pause, Site } from './site.ts';

const PER_SECOND = 100;
const EVERY_MS = 100;

/** What each manifest of the round answers, by path: a status, and the version of the route that answered. */
type Round = readonly {
  readonly text: (version: number) => string;
  readonly answers: Readonly<Record<string, number>>;
}[];

/**
 * Requests at an even pace, with a reload each 100 ms: a route comes and goes, the upstream moves, a route is closed and opened.
 * Each answer must be that of a manifest that was in force between its request's beginning and its end.
 */
export async function reportSoak(
  upstreams: readonly [string, string],
  seconds: number,
  say: (text: string) => void,
): Promise<boolean> {
  const site = new Site(upstreams[0], await freePort());
  const round = roundOf(site, upstreams);
  const at = (version: number) => round[version % round.length] as Round[number];
  site.write('gateway.yaml', at(0).text(0));
  const serving = await startProcess(site.path, site.admin);
  site.serving = serving;
  let written = 0;
  let acknowledged = 0;
  const failed: string[] = [];
  const begin = () => {
    const least = acknowledged;
    return (got: Got) => {
      const fits = range(least, written).some((version) => at(version).answers[got.path] === got.status);
      if (!fits) failed.push(`${got.path}: ${got.failure ?? got.status} between ${least} and ${written}`);
    };
  };
  const traffic = startLoad(serving.port, PER_SECOND, ['/always', '/sometimes', '/guarded'], begin);
  const start = performance.now();
  let refused = 0;
  try {
    while (performance.now() - start < seconds * 1000) {
      const next = performance.now() + EVERY_MS;
      written += 1;
      site.replace('gateway.yaml', at(written).text(written));
      const before = serving.tellings.length;
      await serving.ask();
      // Whatever the watch told of came before, or is of this version: what is saved now is in force.
      if (serving.tellings.slice(before).some(({ kind }) => kind !== 'accepted')) refused += 1;
      acknowledged = written;
      await pause(Math.max(0, next - performance.now()));
    }
    const { sent } = await traffic.stop();
    const answered = (((sent - failed.length) / sent) * 100).toFixed(2);
    say('| requests | reloads | refused | answered by a manifest in force |\n|---|---|---|---|\n');
    say(`| ${sent} | ${written} | ${refused} | ${answered} % |\n\n`);
    for (const what of failed.slice(0, 10)) say(`    ${what}\n`);
  } finally {
    await site.close();
  }
  return failed.length > 0 || refused > 0;
}

function roundOf(site: Site, [one, two]: readonly [string, string]): Round {
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
  const answers = { '/always': 200, '/sometimes': 404, '/guarded': 200 };
  return [
    { text: text(one, false, 'public'), answers },
    { text: text(one, true, 'public'), answers: { ...answers, '/sometimes': 200 } },
    { text: text(one, false, 'public'), answers },
    { text: text(two, false, 'public'), answers },
    { text: text(two, false, 'protected'), answers: { ...answers, '/guarded': 401 } },
  ];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

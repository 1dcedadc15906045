import { readFileSync } from 'node:fs';
import { load } from '../../src/load.ts';
import { createFileEnvironment } from '../../src/manifest/file-environment.ts';
import { freePort } from '../support/free-port.ts';
import { type Got, startLoad } from './load.ts';
import { startProcess } from './process.ts';
import type { Scenario } from './scenarios.ts';
import { pause, Site } from './site.ts';

export interface Result {
  readonly times: number;
  readonly sent: number;
  /** Requests that were not answered 200 by a version that was in force. */
  readonly failed: readonly string[];
  /** Versions that were not in force in the end. */
  readonly missed: readonly string[];
  /** Plans that were put in force and are none of the versions. */
  readonly half: number;
  /** From the change's end until it was in force. */
  readonly medianMs: number;
  readonly worstMs: number;
}

interface Options {
  readonly times: number;
  readonly rate: number;
  readonly upstream: string;
}

/** One way in which files change, again and again, while requests are answered. */
export async function runScenario(scenario: Scenario, { times, rate, upstream }: Options): Promise<Result> {
  const site = new Site(upstream, await freePort());
  site.written = 1;
  (scenario.begin ?? ((place, version) => place.write('gateway.yaml', place.text(version))))(site, 1);
  const serving = await startProcess(site.path, site.admin);
  site.serving = serving;
  await site.served(1);
  const failed: string[] = [];
  const missed: string[] = [];
  const whole = new Set<string | undefined>();
  const took: number[] = [];
  const traffic = startLoad(serving.port, rate, ['/first', '/last'], () => {
    const least = site.acknowledged;
    return (got) => {
      const fault = faultOf(got, least, site.written);
      if (fault !== undefined) failed.push(fault);
    };
  });
  try {
    for (let version = 2; version < 2 + times; version += 1) {
      site.written = version;
      try {
        await scenario.change(site, version);
        const start = performance.now();
        await site.served(version);
        took.push(performance.now() - start);
      } catch (error) {
        missed.push(`version ${version}: ${error instanceof Error ? error.message : String(error)}`);
      }
      whole.add(hashOf(site.path));
    }
    // What was told of last may still be on its way.
    await pause(100);
    const { sent } = await traffic.stop();
    const half = serving.tellings.filter(({ kind, hash }) => kind === 'accepted' && !whole.has(hash)).length;
    took.sort((a, b) => a - b);
    return { times, sent, failed, missed, half, medianMs: took[took.length >> 1] ?? 0, worstMs: took.at(-1) ?? 0 };
  } finally {
    scenario.end?.(site);
    await site.close();
  }
}

function faultOf({ path, status, version, failure }: Got, least: number, most: number): string | undefined {
  if (failure !== undefined) return `${path}: ${failure}`;
  if (status !== 200) return `${path}: ${status} between version ${least} and ${most}`;
  return version >= least && version <= most ? undefined : `${path}: version ${version} is not of ${least} to ${most}`;
}

function hashOf(path: string): string | undefined {
  return load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, {})).plan?.hash;
}

export const tableOf = {
  head: '| scenario | times | requests | failed | missed | half manifests | in force after, median | worst |\n|---|---|---|---|---|---|---|---|\n',
  row: ({ name }: Scenario, { times, sent, failed, missed, half, medianMs, worstMs }: Result) =>
    `| ${name} | ${times} | ${sent} | ${failed.length} | ${missed.length} | ${half} | ${Math.round(medianMs)} ms | ${Math.round(worstMs)} ms |\n`,
  skipped: ({ name }: Scenario) => `| ${name} | 0 | not possible on this machine | | | | | |\n`,
};

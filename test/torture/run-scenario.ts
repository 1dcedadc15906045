import { readFileSync } from 'node:fs';
import { load } from '../../src/engine/load.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/site.ts';
import { type LoadResult, startLoad } from './load.ts';
import { startProcess } from './process.ts';
import type { Scenario } from './scenarios.ts';
import { Site } from './site.ts';

export interface ScenarioResult {
  readonly times: number;
  readonly sent: number;
  /** Requests without a 200 response from a version that was active at the time. */
  readonly failed: readonly string[];
  /** Versions that never became active. */
  readonly missed: readonly string[];
  /** Activated plans that are not one of the versions, for example of a half-written file. */
  readonly partialManifests: number;
  /** Time from the end of the change until the version is active. */
  readonly medianMs: number;
  readonly worstMs: number;
}

interface Options {
  readonly times: number;
  readonly rate: number;
  readonly upstream: string;
  readonly workers: number;
}

/** Repeats one way of changing files while requests are served. */
export async function runScenario(
  scenario: Scenario,
  { times, rate, upstream, workers }: Options,
): Promise<ScenarioResult> {
  const site = new Site(upstream, await freePort(), workers);
  site.written = 1;
  (scenario.begin ?? ((target, version) => target.write('gateway.yaml', target.text(version))))(site, 1);
  const serving = await startProcess(site.path, site.admin);
  site.serving = serving;
  await site.served(1);
  const failed: string[] = [];
  const missed: string[] = [];
  const hashes = new Set<string | undefined>();
  const durations: number[] = [];
  const traffic = startLoad(serving.port, rate, ['/first', '/last'], () => {
    const least = site.acknowledged;
    return (result) => {
      const error = errorOf(result, least, site.written);
      if (error !== undefined) failed.push(error);
    };
  });
  try {
    for (let version = 2; version < 2 + times; version += 1) {
      site.written = version;
      try {
        await scenario.change(site, version);
        const start = performance.now();
        await site.served(version);
        durations.push(performance.now() - start);
      } catch (error) {
        missed.push(`version ${version}: ${error instanceof Error ? error.message : String(error)}`);
      }
      hashes.add(hashOf(site.path));
    }
    // The log line of the last reload may arrive after its first response.
    const last = hashOf(site.path);
    const isLogged = async () => serving.reloads.some(({ kind, hash }) => kind === 'accepted' && hash === last);
    await eventually('the log line of the last reload', isLogged).catch((error: Error) => missed.push(error.message));
    const { sent } = await traffic.stop();
    const partialManifests = serving.reloads.filter(
      ({ kind, hash }) => kind === 'accepted' && !hashes.has(hash),
    ).length;
    durations.sort((a, b) => a - b);
    return {
      times,
      sent,
      failed,
      missed,
      partialManifests,
      medianMs: durations[durations.length >> 1] ?? 0,
      worstMs: durations.at(-1) ?? 0,
    };
  } finally {
    scenario.end?.(site);
    await site.close();
  }
}

function errorOf({ path, status, version, failure }: LoadResult, least: number, most: number): string | undefined {
  if (failure !== undefined) return `${path}: ${failure}`;
  if (status !== 200) return `${path}: ${status} between version ${least} and ${most}`;
  return version >= least && version <= most
    ? undefined
    : `${path}: version ${version} is not between ${least} and ${most}`;
}

function hashOf(path: string): string | undefined {
  return load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, {})).plan?.hash;
}

export const TABLE = {
  head: '| scenario | runs | requests | failed | missed | partial manifests | active after, median | worst |\n|---|---|---|---|---|---|---|---|\n',
  row: ({ name }: Scenario, { times, sent, failed, missed, partialManifests, medianMs, worstMs }: ScenarioResult) =>
    `| ${name} | ${times} | ${sent} | ${failed.length} | ${missed.length} | ${partialManifests} | ${Math.round(medianMs)} ms | ${Math.round(worstMs)} ms |\n`,
  skipped: ({ name }: Scenario) => `| ${name} | 0 | not possible on this machine | | | | | |\n`,
};

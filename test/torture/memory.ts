import { freePort } from '../support/free-port.ts';
import { pause } from '../support/pause.ts';
import { startUpstream } from '../support/upstream.ts';
import { startProcess } from './process.ts';
import { Site } from './site.ts';

/** The first reloads fill caches, compile hot code and let the heap grow to its size. */
const WARM_UP_RELOADS = 600;

/**
 * Measures the memory of the process over many reloads. It goes up and down with each collection of garbage. Returns true if it grew: in the
 * second half it was always more than 5 % above the highest of the first half.
 */
export async function reportMemory(reloads: number, workers: number, print: (text: string) => void): Promise<boolean> {
  const upstream = await startUpstream();
  const site = new Site(upstream.url, await freePort(), workers);
  site.write('gateway.yaml', site.text(0));
  const serving = await startProcess(site.path, site.admin);
  site.serving = serving;
  const rows: [number, number][] = [];
  try {
    for (let version = 1; version <= WARM_UP_RELOADS + reloads; version += 1) {
      site.replace('gateway.yaml', site.text(version));
      await serving.reload();
      if (version >= WARM_UP_RELOADS && (version - WARM_UP_RELOADS) % Math.ceil(reloads / 5) === 0) {
        await pause(500);
        rows.push([version - WARM_UP_RELOADS, serving.residentMb()]);
      }
    }
  } finally {
    await site.close();
    await upstream.close();
  }
  const sizes = rows.map(([, megabytes]) => megabytes);
  const highest = Math.max(...sizes.slice(0, sizes.length / 2));
  const lowest = Math.min(...sizes.slice(sizes.length / 2));
  print('| reloads | resident |\n|---|---|\n');
  for (const [count, megabytes] of rows) print(`| ${count} | ${megabytes.toFixed(0)} MB |\n`);
  print(
    `\nthe lowest of the second half to the highest of the first: ${((lowest / highest - 1) * 100).toFixed(1)} %\n\n`,
  );
  return lowest > highest * 1.05;
}

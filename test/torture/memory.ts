import { freePort } from '../support/free-port.ts';
import { startUpstream } from '../support/upstream.ts';
import { startProcess } from './process.ts';
import { pause, Site } from './site.ts';

/** The first ones fill caches, compile what is hot, and let the heap find its size. */
const WARM = 600;

/** How much memory the process holds, after reload upon reload. */
export async function reportMemory(reloads: number, say: (text: string) => void): Promise<boolean> {
  const upstream = await startUpstream();
  const site = new Site(upstream.url, await freePort());
  site.write('gateway.yaml', site.text(0));
  const serving = await startProcess(site.path, site.admin);
  site.serving = serving;
  const rows: [number, number][] = [];
  try {
    for (let version = 1; version <= WARM + reloads; version += 1) {
      site.replace('gateway.yaml', site.text(version));
      await serving.ask();
      if (version >= WARM && (version - WARM) % Math.ceil(reloads / 5) === 0) {
        await pause(500);
        rows.push([version - WARM, serving.residentMb()]);
      }
    }
  } finally {
    await site.close();
    await upstream.close();
  }
  const [first, last] = [rows[0]?.[1] ?? 0, rows.at(-1)?.[1] ?? 0];
  say('| reloads | resident |\n|---|---|\n');
  for (const [count, megabytes] of rows) say(`| ${count} | ${megabytes.toFixed(0)} MB |\n`);
  say(`\nfrom the first to the last: ${((last / first - 1) * 100).toFixed(1)} %\n\n`);
  return last > first * 1.05;
}

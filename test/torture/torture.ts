/**
 * Changes the files of a gateway under load in every way that editors and deployment tools do, and checks every response against
 * the manifests that were active during its request. Prints the tables of docs/reload.md.
 *
 *     npm run torture
 *     npm run torture -- --times 5 --swaps 100 --seconds 30 --reloads 200
 *     npm run torture -- --only scenarios --name vim
 *     npm run torture -- --workers 4
 */
import { parseArgs } from 'node:util';
import { startUpstream } from '../support/upstream.ts';
import { reportLarge } from './large.ts';
import { reportMemory } from './memory.ts';
import { runScenario, TABLE } from './run-scenario.ts';
import { SCENARIOS } from './scenarios.ts';
import { reportSoak } from './soak.ts';

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '40' },
    rate: { type: 'string', default: '200' },
    swaps: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '300' },
    reloads: { type: 'string', default: '1000' },
    only: { type: 'string', default: 'scenarios,swaps,soak,memory,large' },
    name: { type: 'string', default: '' },
    workers: { type: 'string', default: '1' },
  },
});
const only = new Set(values.only.split(','));
const rate = Number(values.rate);
const workers = Number(values.workers);
const print = (text: string) => void process.stdout.write(text);

const upstream = await startUpstream();
const other = await startUpstream();
let isFailed = false;
try {
  if (only.has('scenarios')) await runScenarios(SCENARIOS, Number(values.times));
  if (only.has('swaps'))
    await runScenarios(
      SCENARIOS.filter(({ name }) => name === 'Kubernetes: ..data replaced'),
      Number(values.swaps),
    );
  if (only.has('soak'))
    isFailed = (await reportSoak([upstream.url, other.url], Number(values.seconds), workers, print)) || isFailed;
  if (only.has('memory')) isFailed = (await reportMemory(Number(values.reloads), workers, print)) || isFailed;
  if (only.has('large')) isFailed = (await reportLarge(10_000, print)) || isFailed;
} finally {
  await upstream.close();
  await other.close();
}
process.exitCode = isFailed ? 1 : 0;

async function runScenarios(all: typeof SCENARIOS, times: number): Promise<void> {
  const chosen = all.filter(({ name }) => name.includes(values.name));
  print(TABLE.head);
  for (const scenario of chosen) {
    if (scenario.isPossible?.() === false) {
      print(TABLE.skipped(scenario));
      continue;
    }
    const result = await runScenario(scenario, { times, rate, upstream: upstream.url, workers });
    isFailed ||= result.failed.length > 0 || result.missed.length > 0 || result.partialManifests > 0;
    print(TABLE.row(scenario, result));
    for (const message of [...result.failed, ...result.missed].slice(0, 5)) print(`    ${message}\n`);
  }
  print('\n');
}

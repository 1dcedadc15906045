/**
 * Changes the files of a gateway that serves under load in every way in which files change, and holds every single answer to
 * what was in force. It prints the tables of docs/reload.md.
 *
 *     npm run torture
 *     npm run torture -- --times 5 --swaps 100 --seconds 30 --reloads 200
 *     npm run torture -- --only scenarios --name vim
 */
import { parseArgs } from 'node:util';
import { startUpstream } from '../support/upstream.ts';
import { reportLarge } from './large.ts';
import { reportMemory } from './memory.ts';
import { runScenario, tableOf } from './run-scenario.ts';
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
  },
});
const only = new Set(values.only.split(','));
const rate = Number(values.rate);
const say = (text: string) => void process.stdout.write(text);

const upstream = await startUpstream();
const other = await startUpstream();
let failed = false;
try {
  if (only.has('scenarios')) await scenarios(SCENARIOS, Number(values.times));
  if (only.has('swaps'))
    await scenarios(
      SCENARIOS.filter(({ name }) => name === 'Kubernetes: ..data swapped'),
      Number(values.swaps),
    );
  if (only.has('soak')) failed = (await reportSoak([upstream.url, other.url], Number(values.seconds), say)) || failed;
  if (only.has('memory')) failed = (await reportMemory(Number(values.reloads), say)) || failed;
  if (only.has('large')) failed = (await reportLarge(10_000, say)) || failed;
} finally {
  await upstream.close();
  await other.close();
}
process.exitCode = failed ? 1 : 0;

async function scenarios(all: typeof SCENARIOS, times: number): Promise<void> {
  const chosen = all.filter(({ name }) => name.includes(values.name));
  say(tableOf.head);
  for (const scenario of chosen) {
    if (scenario.isPossible?.() === false) {
      say(tableOf.skipped(scenario));
      continue;
    }
    const result = await runScenario(scenario, { times, rate, upstream: upstream.url });
    failed ||= result.failed.length > 0 || result.missed.length > 0 || result.half > 0;
    say(tableOf.row(scenario, result));
    for (const what of [...result.failed, ...result.missed].slice(0, 5)) say(`    ${what}\n`);
  }
  say('\n');
}

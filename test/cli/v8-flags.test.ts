import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const MODULE = new URL('../../src/cli/run/v8-flags.ts', import.meta.url).href;

/** Prints whether V8 optimizes a hot function in each phase. */
const SCRIPT = `
  import { setV8Flags } from '${MODULE}';
  const isOptimized = (body) => {
    const hot = new Function('count', body);
    for (let calls = 0; calls < 200_000; calls += 1) {
      hot(100);
      if ((%GetOptimizationStatus(hot) & 8) !== 0) return true;
    }
    return false;
  };
  setV8Flags('loading', process.argv[1]);
  const loading = isOptimized('let sum = 0; for (let at = 0; at < count; at += 1) sum += at % 7; return sum;');
  setV8Flags('starting');
  const starting = isOptimized('let sum = 0; for (let at = 0; at < count; at += 1) sum += at % 5; return sum;');
  setV8Flags('serving');
  process.stdout.write(JSON.stringify({ loading, starting }));
`;

function run(nodeOptions: string): unknown {
  const args = ['--allow-natives-syntax', '--input-type=module', '--eval', SCRIPT, '--', nodeOptions];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

describe('the compilers of V8', () => {
  it('are off while a gateway loads its manifest, and on again before it listens', () => {
    expect(run('--max-semi-space-size=4')).toEqual({ loading: false, starting: true });
  });

  it('stay as they are in a process that somebody started without one of them', () => {
    expect(run('--no_sparkplug')).toEqual({ loading: true, starting: true });
  });
});

/** Prints whether the space for young objects grows further, after it has reached its limit and the limit was checked. */
const GROWTH = `
  import { getHeapSpaceStatistics } from 'node:v8';
  import { limitYoungSpace, setV8Flags } from '${MODULE}';
  for (const phase of ['loading', 'starting', 'serving']) setV8Flags(phase, process.argv[1]);
  const latest = Array.from({ length: 3_000 }, () => ({}));
  const size = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
  const growTo = async (bytes) => {
    for (let turn = 0; turn < 100_000 && size() < bytes; turn += 1) {
      for (let made = 0; made < 30; made += 1) latest[(turn * 30 + made) % latest.length] = { turn, made };
      await new Promise(setImmediate);
    }
  };
  await growTo(6 * 2 ** 20);
  limitYoungSpace();
  for (const endMs = performance.now() + 600; performance.now() < endMs; ) await new Promise(setImmediate);
  const before = size();
  await growTo(before + 1);
  process.stdout.write(String(size() > before));
  process.exit();
`;

describe('the space for young objects', () => {
  it.each([
    { nodeOptions: '', isLimited: true },
    { nodeOptions: '--max-semi-space-size=16', isLimited: false },
  ])('is limited, unless somebody states a size: $nodeOptions', ({ nodeOptions, isLimited }) => {
    const args = ['--input-type=module', '--eval', GROWTH, '--', nodeOptions];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe(String(!isLimited));
  });
});

/** Prints the bytes of the space for young objects in a thread that starts in each phase, after it has made many of them. */
const YOUNG = `
  import { once } from 'node:events';
  import { Worker } from 'node:worker_threads';
  import { setV8Flags } from '${MODULE}';
  const code = \`
    const latest = [];
    for (let made = 0; made < 500_000; made += 1) latest[made % 3_000] = { made };
    const young = process.getBuiltinModule('node:v8').getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    process.getBuiltinModule('node:worker_threads').parentPort.postMessage(young.space_size);
  \`;
  const sizes = [];
  for (const phase of ['loading', 'starting', 'serving']) {
    setV8Flags(phase, '--no-opt');
    sizes.push(...(await once(new Worker(code, { eval: true }), 'message')));
  }
  process.stdout.write(JSON.stringify(sizes));
`;

describe('a thread', () => {
  it('takes less memory while a gateway starts than before, and may take more while it serves', () => {
    const args = ['--input-type=module', '--eval', YOUNG];
    const [loading, starting, serving] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    expect({ starting, serving }).toEqual({
      starting: loading / 2,
      serving: expect.toSatisfy((size) => size >= loading),
    });
  });
});

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

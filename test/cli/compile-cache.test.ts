import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCacheFolder, pruneCacheFolder } from '../../src/cli/compile-cache.ts';
import { MAIN } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const OTHER_USER = 65_532;
const find = (cache: string) => findCacheFolder({ XDG_CACHE_HOME: cache }, process.getuid?.());

describe('findCacheFolder', () => {
  it('creates a folder in the cache folder of the user', () => {
    const cache = join(temporaryFolder('cache'), 'new');
    expect(find(cache)).toBe(join(cache, 'signing-gateway'));
    expect(readdirSync(cache)).toEqual(['signing-gateway']);
  });

  it.each(['770', '707', '777'])('refuses a folder in which others may write (mode %s)', (mode) => {
    const cache = temporaryFolder('cache');
    mkdirSync(join(cache, 'signing-gateway'));
    chmodSync(join(cache, 'signing-gateway'), mode);
    expect(find(cache)).toBeUndefined();
  });

  it('refuses a folder that others may replace, and accepts one that the sticky bit protects', () => {
    const parent = temporaryFolder('cache');
    const cache = join(parent, 'cache');
    mkdirSync(cache);
    chmodSync(parent, 0o777);
    expect(find(cache)).toBeUndefined();
    chmodSync(parent, 0o1777);
    expect(find(cache)).toBe(join(cache, 'signing-gateway'));
  });

  it.runIf(process.getuid?.() === 0)('refuses a folder of another user, and one in a folder of another user', () => {
    for (const name of ['signing-gateway', '.']) {
      const cache = temporaryFolder('cache');
      mkdirSync(join(cache, 'signing-gateway'));
      chownSync(join(cache, name), OTHER_USER, OTHER_USER);
      expect(find(cache)).toBeUndefined();
    }
  });

  it('returns undefined if the folder cannot be created', () => {
    for (const cache of ['/dev/null/cache', '/proc/cache']) expect(find(cache)).toBeUndefined();
  });
});

describe('pruneCacheFolder', () => {
  const fill = (entries: number) => {
    const folder = temporaryFolder('cache');
    const days = { 'v26.1.0-x64-1-0': 31, 'v26.1.0-x64-2-0': 29, 'v26.1.0-x64-3-0': 31, notes: 31 };
    for (const [name, age] of Object.entries(days)) {
      mkdirSync(join(folder, name));
      const count = name === 'v26.1.0-x64-3-0' ? entries : 1;
      for (let index = 0; index < count; index += 1) writeFileSync(join(folder, name, `${index}`), '');
      const time = Date.now() / 1_000 - age * 86_400;
      utimesSync(join(folder, name), time, time);
    }
    pruneCacheFolder(folder, join(folder, 'v26.1.0-x64-3-0'));
    return readdirSync(folder);
  };

  it('keeps the code of this Node, and that of another one for 30 days', () => {
    expect(fill(4_096)).toEqual(['notes', 'v26.1.0-x64-2-0', 'v26.1.0-x64-3-0']);
  });

  it('removes the code of this Node if it is that of many installations', () => {
    expect(fill(4_097)).toEqual(['notes', 'v26.1.0-x64-2-0']);
  });

  it('accepts a folder that is gone', () => {
    expect(() => pruneCacheFolder('/dev/null/cache', undefined)).not.toThrow();
  });
});

describe('the process', () => {
  const run = (cache: string, env: Record<string, string> = {}) => {
    const folder = temporaryFolder('compile-cache');
    const { PATH } = process.env;
    const options = { env: { PATH, TMPDIR: folder, XDG_CACHE_HOME: cache, ...env }, encoding: 'utf8' } as const;
    expect(spawnSync(process.execPath, [MAIN, '--version'], options)).toMatchObject({ status: 0, stderr: '' });
    return readdirSync(folder);
  };

  it('stores compiled code there, and none in the temporary folder', () => {
    const cache = temporaryFolder('cache');
    expect(run(cache)).toEqual([]);
    expect(readdirSync(join(cache, 'signing-gateway'))).toHaveLength(1);
  });

  it('removes old code when it ends, but none in a folder that it did not choose', () => {
    const cache = temporaryFolder('cache');
    const old = join(cache, 'signing-gateway', 'v20.0.0-x64-0-0');
    mkdirSync(old, { recursive: true, mode: 0o700 });
    utimesSync(old, 1, 1);
    run(cache, { NODE_COMPILE_CACHE: join(cache, 'signing-gateway') });
    expect(existsSync(old)).toBe(true);
    run(cache);
    expect(existsSync(old)).toBe(false);
  });

  it('stores no compiled code if another user may write there', () => {
    const cache = temporaryFolder('cache');
    chmodSync(cache, 0o777);
    expect(run(cache)).toEqual([]);
    expect(readdirSync(join(cache, 'signing-gateway'))).toEqual([]);
  });

  it('uses the folder in NODE_COMPILE_CACHE', () => {
    const [cache, chosen] = [temporaryFolder('cache'), temporaryFolder('cache')];
    expect(run(cache, { NODE_COMPILE_CACHE: chosen })).toEqual([]);
    expect(existsSync(join(cache, 'signing-gateway'))).toBe(false);
    expect(readdirSync(chosen)).toHaveLength(1);
  });
});

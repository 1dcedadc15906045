import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findCacheFolder } from '../../src/cli/compile-cache.ts';
import { MAIN } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const OTHER_USER = 65_532;
const find = (cache: string) => findCacheFolder({ XDG_CACHE_HOME: cache }, process.getuid?.());

describe('findCacheFolder', () => {
  it('creates a folder in the cache folder of the user', () => {
    const cache = join(temporaryFolder('cache'), 'new/cache');
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
    expect(find('/dev/null/cache')).toBeUndefined();
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

import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import type { ReloadOutcome } from '../../src/process/reload/reload-outcome.ts';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { head, sendRequest } from '../support/raw.ts';
import { reloadTargetOf } from '../support/reload-target.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { withoutPoll } from './reload-causes.ts';

let folder: string;
let upstream: Upstream;
let gateway: TestGateway;
let reloader: Reloader;
let reported: ReloadOutcome[];
const secret = () => join(folder, 'secrets', 'key');

/** Returns a manifest that sends the secret to its upstream. */
const text = () => `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '${upstream.url}' } }
routes:
  - { id: one, method: any, path: /one, upstream: up, access: public, requestHeaders: { set: { X-Key: '\${file:${secret()}}' } } }
`;

beforeEach(async () => {
  folder = temporaryFolder('reload-secrets');
  mkdirSync(join(folder, 'secrets'));
  upstream = await startUpstream();
  reported = [];
});

afterEach(async () => {
  await reloader.close();
  await gateway.close();
  await upstream.close();
});

/** Starts a gateway with the secret as it is, and watches its files. */
async function start(): Promise<void> {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text());
  const secretsFolder = join(folder, 'secrets');
  const environment = createFileEnvironment(path, {}, {}, secretsFolder);
  const initial = load({ path, text: text() }, environment);
  if (initial.plan === undefined) throw new Error(JSON.stringify(initial.problems));
  gateway = await startGateway(text());
  await gateway.gateway.prepare(initial.plan);
  gateway.gateway.activate(initial.plan);
  const target = reloadTargetOf(gateway.gateway);
  const onReload = (outcome: ReloadOutcome) => void reported.push(outcome);
  withoutPoll(() => {
    reloader = new Reloader({ path, env: {}, secretsFolder, gateway: target, initial, onReload });
  });
}

async function sentKey(): Promise<string | undefined> {
  expect((await sendRequest(gateway.port, head('GET /one HTTP/1.1'))).status).toBe(200);
  const { headers = [] } = upstream.requests.at(-1) ?? {};
  return headers[headers.indexOf('X-Key') + 1];
}

/** Replaces the file by a rename, as programs that rotate secrets do. */
function replaceSecret(value: string): void {
  writeFileSync(`${secret()}.new`, value);
  renameSync(`${secret()}.new`, secret());
}

describe('a secret file that is replaced', () => {
  it('is read again, and nothing reports its value', async () => {
    replaceSecret('value-of-the-first\n');
    await start();
    expect(await sentKey()).toBe('value-of-the-first');
    replaceSecret('value-of-the-second\n');
    await eventually('the second secret is sent', async () => (await sentKey()) === 'value-of-the-second');
    await eventually('the reload is reported', () => reported.length > 0);
    const [outcome] = reported;
    expect(outcome).toMatchObject({ kind: 'accepted', cause: 'change', files: [secret()] });
    const { planned: _planned, ...printed } = outcome as typeof outcome & { planned: unknown };
    expect(JSON.stringify(printed)).not.toContain('value-of-the');
  });

  it('is read again if Kubernetes swaps its link', async () => {
    const deploy = (version: string, value: string) => {
      const inside = (name: string) => join(folder, 'secrets', name);
      mkdirSync(inside(version));
      writeFileSync(join(inside(version), 'key'), value);
      symlinkSync(version, inside('..data_tmp'));
      renameSync(inside('..data_tmp'), inside('..data'));
    };
    deploy('..2026_1', 'first');
    symlinkSync('..data/key', secret());
    await start();
    expect(await sentKey()).toBe('first');
    deploy('..2026_2', 'second');
    await eventually('the second secret is sent', async () => (await sentKey()) === 'second');
    rmSync(join(folder, 'secrets', '..2026_1'), { recursive: true });
    deploy('..2026_3', 'third');
    await eventually('the third secret is sent', async () => (await sentKey()) === 'third');
  });

  it('under load is sent as one of its versions, and at last as the last one', async () => {
    replaceSecret('version-0');
    await start();
    let isOver = false;
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) expect(await sentKey()).toMatch(/^version-\d+$/);
    });
    for (let version = 1; version <= 20; version += 1) {
      replaceSecret(`version-${version}`);
      const before = upstream.requests.length;
      await eventually('more requests', () => upstream.requests.length > before + 4);
    }
    await eventually('the last secret is sent', async () => (await sentKey()) === 'version-20');
    isOver = true;
    await Promise.all(clients);
    expect(reported.filter(({ kind }) => kind !== 'accepted')).toEqual([]);
  });

  it.each([
    ['a pipe', () => execFileSync('mkfifo', [secret()])],
    ['a folder', () => mkdirSync(secret())],
    ['nothing', () => undefined],
    ['a link to the outside', () => symlinkSync('/etc/hostname', secret())],
    ['too many bytes', () => writeFileSync(secret(), 'x'.repeat(70_000))],
    ['an empty file', () => writeFileSync(secret(), '')],
  ])('by %s keeps the last value until it is corrected', async (_name, replace) => {
    replaceSecret('first');
    await start();
    rmSync(secret());
    replace();
    await eventually('a reload is rejected', () => reported.some(({ kind }) => kind === 'rejected'));
    const rejected = reported.find(({ kind }) => kind === 'rejected');
    expect(rejected).toMatchObject({ problems: [{ rule: 'environment' }] });
    expect(await sentKey()).toBe('first');
    rmSync(secret(), { recursive: true, force: true });
    replaceSecret('second');
    await eventually('the second secret is sent', async () => (await sentKey()) === 'second');
  });
});

describe('a candidate that was sent', () => {
  it('may not use a secret where the active manifest does not', async () => {
    replaceSecret('first');
    await start();
    const other = text().replace('routes:', `admin: { listen: 127.0.0.1:0, token: '\${file:${secret()}}' }\nroutes:`);
    const prepared = await reloader.prepareUnsaved(other);
    expect(prepared).toMatchObject({
      problems: expect.arrayContaining([expect.objectContaining({ rule: 'environment' })]),
    });
    expect(JSON.stringify(prepared)).not.toContain('first');
  });

  it('may not read a secret as another file', async () => {
    replaceSecret('first');
    await start();
    const schema = text()
      .replace('routes:', `schemas: { A: { $ref: '${secret()}' } }\nroutes:`)
      .replace(/, requestHeaders.* }\n/, ' }\n');
    const prepared = await reloader.prepareUnsaved(schema);
    expect(prepared).toHaveProperty('problems');
    expect(JSON.stringify(prepared)).not.toContain('first');
  });

  it('may use it at the same key', async () => {
    const log = (from: string) =>
      from.replace('routes:', `log: { paths: keyed, secret: '\${file:${join(folder, 'secrets', 'log')}}' }\nroutes:`);
    writeFileSync(join(folder, 'secrets', 'log'), 'k'.repeat(32));
    replaceSecret('first');
    await start();
    writeFileSync(join(folder, 'gateway.yaml'), log(text()).replace(/, requestHeaders.* }\n/, ' }\n'));
    await eventually('the manifest is accepted', () => reported.some(({ kind }) => kind === 'accepted'));
    const prepared = await reloader.prepareUnsaved(log(text()).replace(/, requestHeaders.* }\n/, ' }\n'));
    expect(prepared).toHaveProperty('planned');
  });
});

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReloadOutcome } from '../../src/process/reload/reload-outcome.ts';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { reloadTargetOf } from '../support/reload-target.ts';
import { eventually } from '../support/site.ts';
import { type Respond, startUpstream, type Upstream } from '../support/upstream.ts';
import { nextReload, withoutPoll } from './reload-causes.ts';

let folder: string;
let upstream: Upstream;
let respond: Respond;
let gateway: TestGateway;
let reloader: Reloader | undefined;
/** The outcomes that the reloader passed to `onReload`. */
let reported: ReloadOutcome[];

/** Returns a manifest with one route of this name. */
const text = (name: string, extra = '') =>
  manifest(`  - { id: ${name}, method: any, path: /${name}, upstream: up, access: public }\n${extra}`, {
    up: upstream.url,
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reload-'));
  respond = (_request, response) => void response.end('ok');
  upstream = await startUpstream((...all) => respond(...all));
  gateway = await startGateway(text('one'));
  reported = [];
});

afterEach(async () => {
  await reloader?.close();
  reloader = undefined;
  await gateway.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

function watch(path: string, first = text('one')): void {
  const outcomes = reported;
  reloader = new Reloader({
    path,
    env: {},
    gateway: reloadTargetOf(gateway.gateway),
    initial: { sources: [{ path, text: first }], files: new Map(), globs: new Map(), secretFiles: new Map() },
    onReload: (reload) => void outcomes.push(reload),
  });
}

/** Changes the files and waits until the reloader reports an outcome of this kind. */
async function reloadAfter(kind: ReloadOutcome['kind'], change: () => void): Promise<ReloadOutcome> {
  const before = reported.length;
  change();
  await eventually(`a reload of kind ${kind}`, () => reported.slice(before).some((reload) => reload.kind === kind));
  return reported.findLast((reload) => reload.kind === kind) as ReloadOutcome;
}

const statusOf = async (name: string) => (await sendRequest(gateway.port, head(`GET /${name} HTTP/1.1`))).status;

async function expectServed(name: string, ...others: string[]) {
  expect(await statusOf(name)).toBe(200);
  for (const other of others) expect(await statusOf(other)).toBe(404);
}

it('starts the manifest thread of a large manifest before the first change', async () => {
  const path = join(folder, 'gateway.yaml');
  const route = (_: unknown, index: number) =>
    `  - { id: r${index}, method: GET, path: /r${index}, upstream: up, access: public }`;
  const many = text('one', Array.from({ length: 1_000 }, route).join('\n'));
  writeFileSync(path, many);
  gateway.swap(many);
  const started = once(process, 'worker');
  watch(path, many);
  await started;
  expect(reported).toEqual([]);
});

describe('a save', () => {
  let path: string;

  beforeEach(async () => {
    path = join(folder, 'gateway.yaml');
    writeFileSync(path, text('one'));
    watch(path);
    // The first reported change shows that the watch is set up.
    await reloadAfter('accepted', () => writeFileSync(path, `${text('one')}# changed\n`));
    reported.length = 0;
  });

  it('that overwrites the file is accepted', async () => {
    const reload = await reloadAfter('accepted', () => writeFileSync(path, text('two')));
    expect(reload).toMatchObject({ kind: 'accepted', hash: gateway.gateway.plan.hash });
    expect(reloader?.lastOutcome).toBe(reload);
    await expectServed('two', 'one');
  });

  it('that renames a file into place is accepted, twice', async () => {
    for (const name of ['two', 'three']) {
      await reloadAfter('accepted', () => {
        writeFileSync(join(folder, '.gateway.yaml.tmp'), text(name));
        renameSync(join(folder, '.gateway.yaml.tmp'), path);
      });
      await expectServed(name, 'one');
    }
  });

  it('that deletes and creates the file is accepted; meanwhile the active plan serves', async () => {
    await reloadAfter('unreadable', () => unlinkSync(path));
    await expectServed('one');
    await reloadAfter('accepted', () => writeFileSync(path, text('two')));
    await expectServed('two', 'one');
  });

  it('with errors keeps the active plan and reports the errors; a valid save after it is accepted', async () => {
    const plan = gateway.gateway.plan;
    const rejected = await reloadAfter('rejected', () => writeFileSync(path, text('two').replace('public', 'publik')));
    expect(rejected).toMatchObject({ sources: [{ path }] });
    expect(rejected.kind === 'rejected' && rejected.problems[0]?.message).toContain('public');
    expect(gateway.gateway.plan).toBe(plan);
    await expectServed('one', 'two');
    await reloadAfter('accepted', () => writeFileSync(path, text('three')));
    await expectServed('three', 'one', 'two');
  });

  it('that breaks an invariant keeps the active plan; the file of the invariants is watched', async () => {
    const rules = join(folder, 'rules.yaml');
    const ruled = (name: string) => text(name).replace('upstreams:', 'invariants: { file: rules.yaml }\nupstreams:');
    writeFileSync(rules, 'invariants: [{ id: hidden, when: { path: /two }, require: { served: false } }]\n');
    await reloadAfter('accepted', () => writeFileSync(path, ruled('three')));
    const rejected = await reloadAfter('rejected', () => writeFileSync(path, ruled('two')));
    expect(rejected.kind === 'rejected' && rejected.problems.map(({ rule, file }) => [rule, file])).toEqual([
      ['invariant-broken', rules],
    ]);
    await expectServed('three', 'two');
    await reloadAfter('accepted', () =>
      writeFileSync(rules, 'invariants: [{ id: open, require: { access: public } }]\n'),
    );
    await expectServed('two', 'three');
    await reloadAfter('rejected', () =>
      writeFileSync(rules, 'invariants: [{ id: none, require: { served: false } }]\n'),
    );
    await expectServed('two');
  });

  it.each([
    ['an empty file', ''],
    ['half a file', 'version: 1\nupstreams: {'],
    ['a binary file', '\0\x01\x02'],
    ['invalid JSON', '{"a": [}'],
  ])('of %s keeps the active plan', async (_case, bytes) => {
    await reloadAfter('rejected', () => writeFileSync(path, bytes));
    await expectServed('one');
  });

  it.each([
    [
      'that is not UTF-8',
      (valid: string) => Buffer.from(`# é\n${valid}`, 'latin1'),
      3,
      'the byte 0xE9 is not UTF-8 here; save the file as UTF-8',
    ],
    [
      'with a directive',
      (valid: string) => Buffer.from(`%YAML 1.1\n---\n${valid}`),
      1,
      'a manifest is YAML 1.2; remove this line',
    ],
  ])('%s is rejected with its place', async (_name, damage, column, message) => {
    const path = join(folder, 'gateway.yaml');
    writeFileSync(path, text('one'));
    watch(path);
    const reload = await reloadAfter('rejected', () => writeFileSync(path, damage(text('two'))));
    expect(reload).toMatchObject({ problems: [{ range: { line: 1, column }, message }] });
    await expectServed('one', 'two');
  });

  it('that restores the old content after errors leaves an equal plan', async () => {
    const plan = gateway.gateway.plan;
    await reloadAfter('rejected', () => writeFileSync(path, 'version: 2\n'));
    await reloadAfter('accepted', () => writeFileSync(path, text('one')));
    expect(gateway.gateway.plan.routes.map(({ id }) => id)).toEqual(plan.routes.map(({ id }) => id));
  });

  it('of the same content causes no reload', async () => {
    const plan = gateway.gateway.plan;
    await reloadAfter('accepted', () => writeFileSync(path, text('two')));
    const second = gateway.gateway.plan;
    expect(second).not.toBe(plan);
    reported.length = 0;
    const outcome = nextReload(reloader as Reloader);
    writeFileSync(path, text('two'));
    expect(await outcome).toMatchObject({ kind: 'unchanged' });
    expect(reported).toEqual([]);
    expect(gateway.gateway.plan).toBe(second);
    await reloadAfter('accepted', () => writeFileSync(path, text('three')));
    expect(reported).toHaveLength(1);
  });

  it('of another file in the folder causes no reload', async () => {
    writeFileSync(join(folder, 'other.yaml'), text('two'));
    expect(await reloader?.reload('request')).toMatchObject({ kind: 'unchanged' });
    await reloadAfter('accepted', () => writeFileSync(path, text('three')));
    expect(reported).toHaveLength(1);
  });

  it('directly after other saves wins', async () => {
    await reloadAfter('accepted', () => {
      writeFileSync(path, text('two'));
      writeFileSync(path, 'version: [');
      writeFileSync(path, text('three'));
    });
    await eventually('the last save serves', async () => (await statusOf('three')) === 200);
    await expectServed('three', 'one', 'two');
    expect(reported.at(-1)?.kind).toBe('accepted');
  });

  it('lets a request in progress finish with the plan that it started with', async () => {
    let finish = () => {};
    const received = new Promise<void>((resolve) => {
      respond = (_request, response) => {
        response.write('start ');
        finish = () => void response.end('end');
        resolve();
      };
    });
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /one HTTP/1.1'));
    await received;
    const other = await startUpstream((_request, response) => void response.end('other'));
    await reloadAfter('accepted', () => writeFileSync(path, text('two').replace(upstream.url, other.url)));
    expect((await sendRequest(gateway.port, head('GET /two HTTP/1.1'))).body.toString()).toBe('other');
    finish();
    const response = await wire.response();
    expect([response.status, response.body.toString(), response.isComplete]).toEqual([200, 'start end', true]);
    // The connection stays open, and its next request uses the new plan.
    for (const [name, status] of [
      ['one', 404],
      ['two', 200],
    ] as const) {
      wire.write(keepAliveHead(`GET /${name} HTTP/1.1`));
      expect((await wire.response()).status).toBe(status);
    }
    wire.end();
    await other.close();
  });

  it('lets an upload in progress finish at the upstream that it started with', async () => {
    const wire = await Wire.open(gateway.port);
    wire.write(`${keepAliveHead('POST /one HTTP/1.1', 'Content-Length: 10')}12345`);
    const other = await startUpstream();
    await reloadAfter('accepted', () => writeFileSync(path, text('two').replace(upstream.url, other.url)));
    wire.write('67890');
    expect((await wire.response()).status).toBe(200);
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual(['1234567890']);
    expect(other.requests).toEqual([]);
    wire.end();
    await other.close();
  });

  it('that protects a route applies to requests on existing connections', async () => {
    const wire = await Wire.open(gateway.port);
    wire.write(keepAliveHead('GET /one HTTP/1.1'));
    expect((await wire.response()).status).toBe(200);
    await reloadAfter('accepted', () =>
      writeFileSync(path, text('one').replace('access: public', 'access: protected')),
    );
    wire.write(keepAliveHead('GET /one HTTP/1.1'));
    expect((await wire.response()).status).toBe(401);
    wire.end();
  });

  it('after the reloader was closed causes no reload', async () => {
    await reloader?.close();
    const reportedByClosed = reported;
    reported = [];
    watch(path);
    await reloadAfter('accepted', () => writeFileSync(path, text('two')));
    expect(reportedByClosed).toEqual([]);
  });
});

it('accepts a manifest whose link is swapped, as Kubernetes does', async () => {
  const deploy = (version: string, name: string) => {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'gateway.yaml'), text(name));
    symlinkSync(version, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  deploy('..2026_1', 'one');
  symlinkSync('..data/gateway.yaml', join(folder, 'gateway.yaml'));
  watch(join(folder, 'gateway.yaml'));
  await reloadAfter('accepted', () => deploy('..2026_2', 'two'));
  await expectServed('two', 'one');
  rmSync(join(folder, '..2026_1'), { recursive: true });
  await reloadAfter('accepted', () => deploy('..2026_3', 'three'));
  await expectServed('three', 'two');
});

it('finds a change between the first load and the start of the watch', async () => {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text('two'));
  withoutPoll(() => watch(path));
  await eventually('the manifest is accepted', () => reported.some(({ kind }) => kind === 'accepted'));
  await expectServed('two', 'one');
});

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Reloader, type ReloadOutcome } from '../../src/reload/reloader.ts';
import { manifest, type Running, startGateway } from '../support/gateway.ts';
import { ask, head, keptHead, Wire } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { type Respond, startUpstream, type Upstream } from '../support/upstream.ts';

let folder: string;
let upstream: Upstream;
let respond: Respond;
let gateway: Running;
let reloader: Reloader | undefined;
let told: ReloadOutcome[];

/** A manifest whose one route is named for it. */
const text = (name: string, extra = '') =>
  manifest(`  - { id: ${name}, method: any, path: /${name}, upstream: up, access: public }\n${extra}`, {
    up: upstream.url,
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reload-'));
  respond = (_request, response) => void response.end('ok');
  upstream = await startUpstream((...all) => respond(...all));
  gateway = await startGateway(text('one'));
  told = [];
});

afterEach(async () => {
  await reloader?.close();
  reloader = undefined;
  await gateway.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

function watch(path: string, first = text('one')): void {
  reloader = new Reloader({
    path,
    env: {},
    gateway: gateway.gateway,
    initial: { sources: [{ path, text: first }], files: new Map(), globs: new Map() },
    onReload: (reload) => void told.push(reload),
  });
}

/** Does something to the file, and waits until the reloader has told of it. */
async function until(kind: ReloadOutcome['kind'], act: () => void): Promise<ReloadOutcome> {
  const before = told.length;
  act();
  await eventually(`a reload of kind ${kind}`, () => told.slice(before).some((reload) => reload.kind === kind), 8_000);
  return told.findLast((reload) => reload.kind === kind) as ReloadOutcome;
}

const statusOf = async (name: string) => (await ask(gateway.port, head(`GET /${name} HTTP/1.1`))).status;

async function expectServed(name: string, ...others: string[]) {
  expect(await statusOf(name)).toBe(200);
  for (const other of others) expect(await statusOf(other)).toBe(404);
}

it('of many routes: the thread that reads begins before anything has changed', async () => {
  const path = join(folder, 'gateway.yaml');
  const route = (_: unknown, index: number) =>
    `  - { id: r${index}, method: GET, path: /r${index}, upstream: up, access: public }`;
  const many = text('one', Array.from({ length: 1_000 }, route).join('\n'));
  writeFileSync(path, many);
  gateway.swap(many);
  const begun = once(process, 'worker');
  watch(path, many);
  await begun;
  expect(told).toEqual([]);
});

describe('a save', () => {
  let path: string;

  beforeEach(async () => {
    path = join(folder, 'gateway.yaml');
    writeFileSync(path, text('one'));
    watch(path);
    // Once it tells of a change it stands.
    await until('accepted', () => writeFileSync(path, `${text('one')}# changed\n`));
    told.length = 0;
  });

  it('in place is taken over', async () => {
    const reload = await until('accepted', () => writeFileSync(path, text('two')));
    expect(reload).toMatchObject({ kind: 'accepted', hash: gateway.gateway.plan.hash });
    expect(reloader?.lastOutcome).toBe(reload);
    await expectServed('two', 'one');
  });

  it('by an atomic rename is taken over, twice', async () => {
    for (const name of ['two', 'three']) {
      await until('accepted', () => {
        writeFileSync(join(folder, '.gateway.yaml.tmp'), text(name));
        renameSync(join(folder, '.gateway.yaml.tmp'), path);
      });
      await expectServed(name, 'one');
    }
  });

  it('by deleting and creating is taken over; while the file is gone the last plan serves', async () => {
    await until('unreadable', () => unlinkSync(path));
    await expectServed('one');
    await until('accepted', () => writeFileSync(path, text('two')));
    await expectServed('two', 'one');
  });

  it('that is faulty keeps the last plan and tells where the fault is; a good one after it is taken over', async () => {
    const plan = gateway.gateway.plan;
    const faulty = await until('rejected', () => writeFileSync(path, text('two').replace('public', 'publik')));
    expect(faulty).toMatchObject({ sources: [{ path }] });
    expect(faulty.kind === 'rejected' && faulty.problems[0]?.message).toContain('public');
    expect(gateway.gateway.plan).toBe(plan);
    await expectServed('one', 'two');
    await until('accepted', () => writeFileSync(path, text('three')));
    await expectServed('three', 'one', 'two');
  });

  it.each([
    ['an empty file', ''],
    ['half a file', 'version: 1\nupstreams: {'],
    ['binary', '\0\x01\x02'],
    ['a file of another language', '{"a": [}'],
  ])('of %s keeps the last plan', async (_what, bytes) => {
    await until('rejected', () => writeFileSync(path, bytes));
    await expectServed('one');
  });

  it('that is faulty and then undone leaves the plan as it was', async () => {
    const plan = gateway.gateway.plan;
    await until('rejected', () => writeFileSync(path, 'version: 2\n'));
    await until('accepted', () => writeFileSync(path, text('one')));
    expect(gateway.gateway.plan.routes.map(({ id }) => id)).toEqual(plan.routes.map(({ id }) => id));
  });

  it('of the same content is no reload', async () => {
    const plan = gateway.gateway.plan;
    await until('accepted', () => writeFileSync(path, text('two')));
    const taken = gateway.gateway.plan;
    expect(taken).not.toBe(plan);
    told.length = 0;
    writeFileSync(path, text('two'));
    // Longer than a save takes to settle.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(told).toEqual([]);
    expect(gateway.gateway.plan).toBe(taken);
    await until('accepted', () => writeFileSync(path, text('three')));
    expect(told).toHaveLength(1);
  });

  it('of a neighbour is none of its business', async () => {
    writeFileSync(join(folder, 'other.yaml'), text('two'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(told).toEqual([]);
    await until('accepted', () => writeFileSync(path, text('three')));
    expect(told).toHaveLength(1);
  });

  it('right after another: the last wins', async () => {
    await until('accepted', () => {
      writeFileSync(path, text('two'));
      writeFileSync(path, 'version: [');
      writeFileSync(path, text('three'));
    });
    await eventually('the last save serves', async () => (await statusOf('three')) === 200);
    await expectServed('three', 'one', 'two');
    expect(told.at(-1)?.kind).toBe('accepted');
  });

  it('lets a request in flight end by the plan it began with', async () => {
    let finish = () => {};
    const came = new Promise<void>((resolve) => {
      respond = (_request, response) => {
        response.write('begun ');
        finish = () => void response.end('ended');
        resolve();
      };
    });
    const wire = await Wire.open(gateway.port);
    wire.write(keptHead('GET /one HTTP/1.1'));
    await came;
    const other = await startUpstream((_request, response) => void response.end('other'));
    await until('accepted', () => writeFileSync(path, text('two').replace(upstream.url, other.url)));
    expect((await ask(gateway.port, head('GET /two HTTP/1.1'))).body.toString()).toBe('other');
    finish();
    const got = await wire.answer();
    expect([got.status, got.body.toString(), got.isWhole]).toEqual([200, 'begun ended', true]);
    // The connection lives on; its next request is judged by the new plan.
    for (const [name, status] of [
      ['one', 404],
      ['two', 200],
    ] as const) {
      wire.write(keptHead(`GET /${name} HTTP/1.1`));
      expect((await wire.answer()).status).toBe(status);
    }
    wire.end();
    await other.close();
  });

  it('lets an upload in flight end at the upstream it went to', async () => {
    const wire = await Wire.open(gateway.port);
    wire.write(`${keptHead('POST /one HTTP/1.1', 'Content-Length: 10')}12345`);
    const other = await startUpstream();
    await until('accepted', () => writeFileSync(path, text('two').replace(upstream.url, other.url)));
    wire.write('67890');
    expect((await wire.answer()).status).toBe(200);
    expect(upstream.requests.map(({ body }) => body.toString())).toEqual(['1234567890']);
    expect(other.requests).toEqual([]);
    wire.end();
    await other.close();
  });

  it('that closes a route closes it on a connection that is kept', async () => {
    const wire = await Wire.open(gateway.port);
    wire.write(keptHead('GET /one HTTP/1.1'));
    expect((await wire.answer()).status).toBe(200);
    await until('accepted', () => writeFileSync(path, text('one').replace('access: public', 'access: protected')));
    wire.write(keptHead('GET /one HTTP/1.1'));
    expect((await wire.answer()).status).toBe(401);
    wire.end();
  });

  it('after the end is not taken over', async () => {
    await reloader?.close();
    writeFileSync(path, text('two'));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(told).toEqual([]);
  });
});

it('a link that is swapped, as Kubernetes does it, is taken over', async () => {
  const place = (version: string, name: string) => {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'gateway.yaml'), text(name));
    symlinkSync(version, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  place('..2026_1', 'one');
  symlinkSync('..data/gateway.yaml', join(folder, 'gateway.yaml'));
  watch(join(folder, 'gateway.yaml'));
  await until('accepted', () => place('..2026_2', 'two'));
  await expectServed('two', 'one');
  rmSync(join(folder, '..2026_1'), { recursive: true });
  await until('accepted', () => place('..2026_3', 'three'));
  await expectServed('three', 'two');
});

it('a change between the load and the watch is not missed', async () => {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text('two'));
  watch(path);
  // Sooner than the slow poll would find it.
  await eventually('the file is taken over', () => told.some(({ kind }) => kind === 'accepted'), 3_000);
  await expectServed('two', 'one');
});

import { existsSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import { createNullLog } from '../../src/engine/log/log.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import type { ReloadOutcome } from '../../src/process/reload/reload-outcome.ts';
import { reportProblems } from '../../src/process/reload/reload-report.ts';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { runSelfTest } from '../../src/prove/self-test.ts';
import { ecKey, keyFile } from '../plan/tokens/keys.ts';
import { pause } from '../support/pause.ts';
import { reloadTargetOf } from '../support/reload-target.ts';
import { scaledMs } from '../support/slowness.ts';

let folder: string;
let gateway: Gateway;
let reloader: Reloader;
/** The outcomes that the reloader passed to `onReload`. */
let reported: ReloadOutcome[];

const text = (route: string, more = '') => `version: 1
listen: 127.0.0.1:0
${more}upstreams:
  up: { url: http://127.0.0.1:9 }
routes:
  - { id: ${route}, method: GET, path: /${route}, upstream: up, access: public }
`;
const save = (name: string, content: string) => writeFileSync(join(folder, name), content);

async function serve(first: string): Promise<void> {
  save('gateway.yaml', first);
  const path = join(folder, 'gateway.yaml');
  const initial = load({ path, text: first }, createFileEnvironment(path, {}));
  if (initial.plan === undefined) throw new Error(JSON.stringify(initial.problems));
  gateway = createGateway(initial.plan, createNullLog());
  await gateway.listen();
  reloader = new Reloader({
    path,
    env: {},
    gateway: reloadTargetOf(gateway),
    initial,
    onReload: (reload) => void reported.push(reload),
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'explicit-reload-'));
  reported = [];
});
afterEach(async () => {
  await reloader.close();
  await gateway.close(0);
  rmSync(folder, { recursive: true });
});

describe('an explicit reload', () => {
  it('activates the saved manifest before it resolves, and returns both hashes and a summary', async () => {
    await serve(text('one'));
    const { hash } = gateway.plan;
    save('gateway.yaml', text('two'));
    const reload = await reloader.reload('request');
    expect(gateway.plan.routes.map(({ id }) => id)).toEqual(['two']);
    expect(reload).toMatchObject({
      kind: 'accepted',
      oldHash: hash,
      hash: gateway.plan.hash,
      files: [join(folder, 'gateway.yaml')],
      summary: '1 route added, 1 route removed, 1 now public',
    });
    expect(
      reload.kind === 'accepted' && reload.planned.document.locate({ path: ['routes', 0], at: 'value' }).line,
    ).toBe(6);
    expect(reloader.lastOutcome).toBe(reload);
    expect(reported).toEqual([reload]);
    expect(reloader.lastActivatedAt.getTime()).toBeGreaterThanOrEqual(reload.at.getTime());
    // The cause depends on which came first: the file event or the explicit reload.
    expect(reloader.counts.filter(({ count }) => count > 0)).toEqual([
      { kind: 'accepted', cause: reload.cause, count: 1 },
    ]);
  });

  it('resolves to unchanged without a change, and does not report it', async () => {
    await serve(text('one'));
    expect(await reloader.reload('signal')).toMatchObject({ kind: 'unchanged', files: [] });
    expect([reloader.lastOutcome, reported]).toEqual([undefined, []]);
    expect(reloader.counts.every(({ count }) => count === 0)).toBe(true);
  });

  it('shares a reload that has not started', async () => {
    await serve(text('one'));
    save('gateway.yaml', text('two'));
    const [first, second] = [reloader.reload('request'), reloader.reload('signal')];
    expect(second).toBe(first);
    await first;
    expect(reported).toHaveLength(1);
  });

  it('returns the problems with the lines around them each time, until they are fixed', async () => {
    await serve(text('one'));
    save('gateway.yaml', text('two').replace('public', 'publik'));
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const reload = await reloader.reload('request');
      expect(reload.kind === 'rejected' && reportProblems(reload)).toMatchObject([
        {
          line: 6,
          rule: 'schema',
          message: expect.stringContaining('publik'),
          frame: expect.stringContaining('^^^^^^'),
        },
      ]);
    }
    expect(gateway.plan.routes.map(({ id }) => id)).toEqual(['one']);
    save('gateway.yaml', text('two'));
    expect((await reloader.reload('request')).kind).toBe('accepted');
  });

  it('groups equal problems, so that many of them do not hide another one', async () => {
    await serve(text('one'));
    const routes = Array.from(
      { length: 100 },
      (_, index) =>
        `  - { id: r${index}, method: GET, path: /r${index}, upstream: up, acess: public, access: public }\n`,
    );
    save(
      'gateway.yaml',
      `${text('two').trimEnd()}\n${routes.join('')}  - { id: last, method: GET, path: /last, upstream: up, access: publik }\n`,
    );
    const reload = await reloader.reload('request');
    const groups = reload.kind === 'rejected' ? reportProblems(reload) : [];
    expect(groups.map(({ message, count, others }) => [message.split(';')[0], count, others.length])).toEqual([
      ['unknown key "acess"', 100, 10],
      [expect.stringContaining('publik'), 1, 0],
    ]);
    const [group] = groups;
    expect(group?.others[0]).toEqual({ file: group?.file, line: Number(group?.line) + 1 });
  });
});

describe('a key that needs a restart', () => {
  it('is listed until it has its initial value again, and other changes become active', async () => {
    await serve(text('one'));
    save('gateway.yaml', text('two').replace('127.0.0.1:0', '127.0.0.1:1'));
    expect(await reloader.reload('request')).toMatchObject({
      changes: { added: ['two'], needs_restart: ['listen'] },
      keysNeedingRestart: ['listen'],
    });
    save('gateway.yaml', text('three').replace('127.0.0.1:0', '127.0.0.1:1'));
    expect(await reloader.reload('request')).toMatchObject({
      changes: { needs_restart: [] },
      keysNeedingRestart: ['listen'],
    });
    expect(reloader.keysNeedingRestart).toEqual(['listen']);
    save('gateway.yaml', text('three'));
    await reloader.reload('request');
    expect(reloader.keysNeedingRestart).toEqual([]);
  });
});

describe('a change of only a key file', () => {
  it('is reported with the name of the file and a summary', async () => {
    const auth = `auth:
  tokens: { jwt: { jwks: keys.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin], message: no }
`;
    save('keys.json', keyFile(ecKey('one')));
    await serve(text('one', auth));
    save('keys.json', keyFile(ecKey('two')));
    expect(await reloader.reload('request')).toMatchObject({
      kind: 'accepted',
      files: ['keys.json'],
      summary: 'tokens changed',
      changes: { rules: ['tokens'] },
    });
  });
});

describe('a self-test', () => {
  const TEST_FILE = `version: 1
cases:
  - name: one is public
    request: { method: GET, url: /one }
    expect: { status: 200 }
`;
  const withSelfTest = (route: string) => text(route, 'reload: { selfTest: self.test.yaml }\n');

  it('rejects a manifest that fails it, and names the failed case', async () => {
    save('self.test.yaml', TEST_FILE);
    await serve(withSelfTest('one'));
    save('gateway.yaml', withSelfTest('two'));
    const reload = await reloader.reload('request');
    expect(reload.kind === 'rejected' && reportProblems(reload)).toEqual([
      {
        file: join(folder, 'self.test.yaml'),
        line: 5,
        column: 13,
        severity: 'error',
        rule: 'self-test',
        message: '"one is public" fails: refusal is "route_unknown", not none',
        frame: expect.stringContaining('expect: { status: 200 }'),
        count: 1,
        others: [],
      },
      expect.objectContaining({ message: '"one is public" fails: status is 404, not 200' }),
    ]);
    expect(gateway.plan.routes.map(({ id }) => id)).toEqual(['one']);
    // A change of only the test file starts a reload too.
    save('self.test.yaml', TEST_FILE.replace('/one', '/two'));
    expect(await reloader.reload('request')).toMatchObject({ kind: 'accepted', files: ['self.test.yaml'] });
  });

  it('fails if it takes longer than its time limit', async () => {
    save('self.test.yaml', TEST_FILE);
    await serve(withSelfTest('one'));
    const path = join(folder, 'gateway.yaml');
    const planned = load({ path, text: withSelfTest('one') }, createFileEnvironment(path, {})) as PlannedManifest;
    expect((await runSelfTest(planned, createFileEnvironment(path, {}))).problems).toEqual([]);
    const { problems } = await runSelfTest(planned, createFileEnvironment(path, {}), 0);
    expect(problems.map(({ file, range, message }) => `${file}:${range.line} ${message}`)).toEqual([
      `${folder}/self.test.yaml:3 the self-test takes longer than 0 ms; remove cases from the test file`,
    ]);
  });

  it('with errors in its test file keeps the active plan', async () => {
    save('self.test.yaml', TEST_FILE);
    await serve(withSelfTest('one'));
    save('self.test.yaml', TEST_FILE.replace('cases', 'casses'));
    const reload = await reloader.reload('request');
    expect(reload.kind === 'rejected' && reload.problems[0]?.message).toContain('did you mean "cases"');
  });
});

it.runIf(existsSync('/proc/sys/kernel/random/uuid'))(
  'keeps the active plan while the files change faster than they can be read',
  async () => {
    await serve(text('one'));
    symlinkSync('/proc/sys/kernel/random/uuid', join(folder, 'changing.yaml'));
    save('gateway.yaml', text('two', 'include: changing.yaml\n'));
    expect(await reloader.reload('request')).toMatchObject({
      kind: 'failed',
      reason: 'the files change faster than they can be read',
    });
    expect(gateway.plan.routes.map(({ id }) => id)).toEqual(['one']);
  },
);

it('tries again after a failure that is not due to the files, and says what failed', async () => {
  await serve(text('one'));
  const prepare = gateway.prepare.bind(gateway);
  const reasons = ['worker 1 cannot compile the manifest: boom of the test', 'worker 2 cannot start'];
  gateway.prepare = (plan) => {
    const reason = reasons.shift();
    return reason === undefined ? prepare(plan) : Promise.reject(new Error(reason));
  };
  save('gateway.yaml', text('two'));
  await reloader.reload('request');
  await expect.poll(() => gateway.plan.routes.map(({ id }) => id), { timeout: scaledMs(20_000) }).toEqual(['two']);
  await expect.poll(() => reported.length, { timeout: scaledMs(20_000) }).toBe(3);
  expect(reported).toMatchObject([
    { kind: 'failed', reason: 'worker 1 cannot compile the manifest: boom of the test' },
    { kind: 'failed', reason: 'worker 2 cannot start' },
    { kind: 'accepted', files: [join(folder, 'gateway.yaml')] },
  ]);
  expect(await reloader.reload('request')).toMatchObject({ kind: 'unchanged' });
});

it('activates a version once files settle that were written all the time', async () => {
  await serve(text('one'));
  let version = 0;
  const write = () => save('gateway.yaml', text(`v${++version}`));
  write();
  const timer = setInterval(write, 10);
  try {
    // A machine that is busy may pause long enough between two writes.
    expect(['failed', 'accepted']).toContain((await reloader.reload('request')).kind);
  } finally {
    clearInterval(timer);
  }
  await expect.poll(() => gateway.plan.routes[0]?.id, { timeout: scaledMs(20_000) }).toBe(`v${version}`);
});

it('does not call a file rejected that is empty for a moment while it is written', async () => {
  await serve(text('one'));
  save('gateway.yaml', text('zero'));
  await reloader.reload('request');
  save('gateway.yaml', '');
  await pause(300);
  save('gateway.yaml', text('two'));
  await expect
    .poll(() => reported.map(({ kind }) => kind), { timeout: scaledMs(20_000) })
    .toEqual(['accepted', 'accepted']);
  expect(gateway.plan.routes[0]?.id).toBe('two');
});

it('closes while a file is written continuously', async () => {
  await serve(text('one'));
  save('gateway.yaml', text('two'));
  const path = join(folder, 'gateway.yaml');
  const touch = () => utimesSync(path, Date.now() / 1_000, Date.now() / 1_000);
  const writer = setInterval(touch, 5);
  try {
    touch();
    const reload = reloader.reload('request');
    const start = performance.now();
    await reloader.close();
    expect(performance.now() - start).toBeLessThan(scaledMs(5_000));
    expect((await reload).kind).toBe('cancelled');
  } finally {
    clearInterval(writer);
  }
});

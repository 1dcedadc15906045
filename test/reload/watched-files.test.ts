import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect } from 'node:tls';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/gateway.ts';
import { load } from '../../src/load.ts';
import { createFileEnvironment } from '../../src/manifest/file-environment.ts';
import { Reloader, type ReloadOutcome } from '../../src/reload/reloader.ts';
import { claims, ecKey, type SigningKey, tokenOf } from '../plan/tokens/keys.ts';
import { createPair, type Pair } from '../support/certificate.ts';
import { manifest } from '../support/gateway.ts';
import { ask, head } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** The files that a manifest names: when one of them changes, the manifest is loaded anew. */
let folder: string;
let upstream: Upstream;
let gateway: Gateway;
let port: number;
let reloader: Reloader;
const told: ReloadOutcome[] = [];

const ROUTE = '  - { id: a, method: any, path: /**, upstream: up, access: protected }\n';
const tls = (where = '.') => `{ tls: { certificate: ${where}/tls.crt, key: ${where}/tls.key } }`;
const textOf = (server: string, jwks?: string) =>
  manifest(ROUTE, { up: upstream.url, server, ...(jwks === undefined ? {} : { jwks }) });

const place = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const placePair = ({ certificate, key }: Pair, where = '.') => {
  place(`${where}/tls.crt`, certificate);
  place(`${where}/tls.key`, key);
};

/** Serves the manifest with the files that were placed, and watches over all of them. */
async function serve(text: string): Promise<void> {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text);
  const world = createFileEnvironment(path, {});
  const initial = load({ path, text }, world);
  const { plan, problems } = initial;
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  gateway = createGateway(plan, {
    logger: pino({ level: 'silent' }),
    writeLine: () => undefined,
    flush: () => undefined,
  });
  port = (await gateway.listen()).port;
  reloader = new Reloader({ path, env: {}, gateway, initial, onReload: (reload) => void told.push(reload) });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reload-files-'));
  upstream = await startUpstream();
  told.length = 0;
});

afterEach(async () => {
  await reloader.close();
  await gateway.close(0);
  await upstream.close();
  rmSync(folder, { recursive: true });
});

/** Whose certificate a new connection is shown. */
const served = () =>
  new Promise<string>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.toString() ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });
const isServed = ({ certificate }: Pair) =>
  eventually('the pair is served', async () => (await served()) === certificate, 8_000);
const isTold = (kind: ReloadOutcome['kind']) =>
  eventually(`a reload of kind ${kind}`, () => told.at(-1)?.kind === kind, 8_000);

describe('a certificate and its key', () => {
  const [one, two, three] = [createPair(), createPair(), createPair()];

  it('are taken over when they are written in place, one after the other', async () => {
    placePair(one);
    await serve(textOf(tls()));
    place('tls.crt', two.certificate);
    // The pair that is half of each is told of, and not served.
    await isTold('rejected');
    expect(await served()).toBe(one.certificate);
    place('tls.key', two.key);
    await isServed(two);
    await isTold('accepted');
    expect(told.at(-1)).toMatchObject({ kind: 'accepted', changes: { server: ['tls'], needsRestart: [] } });
  });

  it('are taken over when they are renamed into place, twice', async () => {
    placePair(one);
    await serve(textOf(tls()));
    for (const pair of [two, three]) {
      for (const [name, text] of [
        ['tls.key', pair.key],
        ['tls.crt', pair.certificate],
      ] as const) {
        place('.tmp', text);
        renameSync(join(folder, '.tmp'), join(folder, name));
      }
      await isServed(pair);
    }
  });

  it('that do not belong together keep the last good ones in force, and say where they are named', async () => {
    placePair(one, 'secret');
    await serve(textOf(tls('./secret')));
    const { plan } = gateway;
    place('secret/tls.key', two.key);
    await isTold('rejected');
    const last = told.at(-1);
    const [problem] = last?.kind === 'rejected' ? last.problems : [];
    expect(problem?.message).toContain('this key does not belong to the certificate');
    expect(problem?.range.line).toBe(3);
    expect(JSON.stringify(told)).not.toContain(two.key.split('\n')[1]);
    expect(gateway.plan).toBe(plan);
    expect(await served()).toBe(one.certificate);
    place('secret/tls.key', one.key);
    await isTold('accepted');
  });

  it('of which one is gone for a while keep the last good ones in force', async () => {
    placePair(one);
    await serve(textOf(tls()));
    unlinkSync(join(folder, 'tls.key'));
    await isTold('rejected');
    expect(await served()).toBe(one.certificate);
    placePair(two);
    await isServed(two);
  });

  it('in a folder whose link is swapped, as Kubernetes does it, are taken over', async () => {
    const secret = join(folder, 'secret');
    const swap = (version: string, pair: Pair) => {
      placePair(pair, `secret/${version}`);
      symlinkSync(version, join(secret, '..data_tmp'));
      renameSync(join(secret, '..data_tmp'), join(secret, '..data'));
    };
    swap('..2026_1', one);
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(secret, name));
    await serve(textOf(tls('./secret')));
    swap('..2026_2', two);
    await isServed(two);
    rmSync(join(secret, '..2026_1'), { recursive: true });
    swap('..2026_3', three);
    await isServed(three);
  });

  it('in a folder that is itself a link that is swapped are taken over', async () => {
    for (const [name, pair] of [
      ['v1', one],
      ['v2', two],
    ] as const)
      placePair(pair, name);
    symlinkSync('v1', join(folder, 'current'));
    await serve(textOf(tls('./current')));
    symlinkSync('v2', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
    await isServed(two);
  });

  it('that a saved manifest names before they are there are taken over once they are', async () => {
    placePair(one);
    await serve(textOf(tls()));
    writeFileSync(join(folder, 'gateway.yaml'), textOf(tls('./later')));
    await isTold('rejected');
    placePair(two, 'later');
    await isServed(two);
    // Those of before are not named any more.
    const count = told.length;
    placePair(three);
    placePair(one, 'later');
    await isServed(one);
    expect(told.slice(count).filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
  });

  it('that are written again as they were are no reload', async () => {
    placePair(one);
    await serve(textOf(tls()));
    placePair(one);
    // Longer than a save takes to settle.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(told).toEqual([]);
    placePair(two);
    await isServed(two);
  });

  it('that changed before the watch stood are taken over', async () => {
    placePair(one);
    await serve(textOf(tls()));
    placePair(two);
    // Sooner than the slow poll would find it.
    await eventually('the pair is served', async () => (await served()) === two.certificate, 3_000);
  });
});

describe('a file of keys', () => {
  const keysOf = (...keys: SigningKey[]) => JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
  const statusOf = async (key: SigningKey) => {
    const token = tokenOf(
      { alg: 'ES256', kid: key.jwk.kid },
      claims({ iss: 'https://identity.test', aud: 'gateway-test', company_role: 'user' }),
      key,
    );
    return (await ask(port, head('GET /x HTTP/1.1', `Authorization: Bearer ${token}`))).status;
  };

  it('is taken over when it changes; a broken one keeps the last good keys', async () => {
    const [one, two] = [ecKey('one'), ecKey('two')];
    place('keys.json', keysOf(one));
    await serve(textOf('{}', './keys.json'));
    expect([await statusOf(one), await statusOf(two)]).toEqual([200, 401]);
    place('keys.json', keysOf(two));
    await eventually('the keys are in force', async () => (await statusOf(two)) === 200, 8_000);
    expect(await statusOf(one)).toBe(401);
    place('keys.json', '{ "keys": [');
    await isTold('rejected');
    expect(await statusOf(two)).toBe(200);
  });
});

describe('what is no file', () => {
  const included = '{}\ninclude: more/*.yaml';

  it('holds nothing up: a pipe that nobody writes to is told of, and the last good manifest stays', async () => {
    place('more/a.yaml', `routes:\n${ROUTE.replaceAll('a,', 'b,').replace('/**', '/b')}`);
    await serve(textOf(included));
    const pipe = join(folder, 'more/b.yaml');
    execFileSync('mkfifo', [pipe]);
    try {
      await isTold('rejected');
      expect(JSON.stringify(told.at(-1))).toContain('the file \\"more/b.yaml\\" cannot be read');
    } finally {
      // Who waits for it waits no longer.
      const file = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
      unlinkSync(pipe);
      closeSync(file);
    }
    await isTold('accepted');
  });
});

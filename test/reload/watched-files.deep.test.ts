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
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { load } from '../../src/engine/load.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import type { ReloadOutcome } from '../../src/process/reload/reload-outcome.ts';
import { reportProblems } from '../../src/process/reload/reload-report.ts';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { claims, ecKey, type SigningKey, tokenOf } from '../plan/tokens/keys.ts';
import { createPair, type Pair } from '../support/certificate.ts';
import { manifest } from '../support/gateway.ts';
import { head, sendRequest } from '../support/raw.ts';
import { reloadTargetOf } from '../support/reload-target.ts';
import { eventually } from '../support/site.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { nextReload, withoutPoll } from './reload-causes.ts';

let folder: string;
let upstream: Upstream;
let gateway: Gateway;
let port: number;
let reloader: Reloader;
/** The outcomes that the reloader passed to `onReload`. */
const reported: ReloadOutcome[] = [];

const ROUTE = '  - { id: a, method: any, path: /**, upstream: up, access: protected }\n';
const tls = (where = '.') => `{ tls: { certificate: ${where}/tls.crt, key: ${where}/tls.key } }`;
const textOf = (server: string, jwks?: string) =>
  manifest(ROUTE, { up: upstream.url, server, ...(jwks === undefined ? {} : { jwks }) });

const write = (name: string, text: string) => {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
};
const writePair = ({ certificate, key }: Pair, where = '.') => {
  write(`${where}/tls.crt`, certificate);
  write(`${where}/tls.key`, key);
};

/** Serves the manifest with the written files, and reloads it when one of them changes. */
async function serve(text: string): Promise<void> {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text);
  const environment = createFileEnvironment(path, {});
  const initial = load({ path, text }, environment);
  const { plan, problems } = initial;
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  gateway = createGateway(plan, {
    logger: pino({ level: 'silent' }),
    writeLine: () => undefined,
    flush: () => undefined,
  });
  port = (await gateway.listen()).port;
  withoutPoll(() => {
    reloader = new Reloader({
      path,
      env: {},
      gateway: reloadTargetOf(gateway),
      initial,
      onReload: (reload) => void reported.push(reload),
    });
  });
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reload-files-'));
  upstream = await startUpstream();
  reported.length = 0;
});

afterEach(async () => {
  await reloader.close();
  await gateway.close(0);
  await upstream.close();
  rmSync(folder, { recursive: true });
});

/** Returns the certificate that the gateway sends on a new connection. */
const servedCertificate = () =>
  new Promise<string>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.toString() ?? '');
      socket.destroy();
    });
    socket.on('error', reject);
  });
const isServed = ({ certificate }: Pair) =>
  eventually('the pair is served', async () => (await servedCertificate()) === certificate);
const isReported = (kind: ReloadOutcome['kind']) =>
  eventually(`a reload of kind ${kind}`, () => reported.at(-1)?.kind === kind);

describe('a certificate and its key', () => {
  const [one, two, three] = [createPair(), createPair(), createPair()];

  it('are reloaded when both files are overwritten, one after the other', async () => {
    writePair(one);
    await serve(textOf(tls()));
    write('tls.crt', two.certificate);
    // A certificate and a key that do not match are rejected.
    await isReported('rejected');
    expect(await servedCertificate()).toBe(one.certificate);
    write('tls.key', two.key);
    await isServed(two);
    await isReported('accepted');
    expect(reported.at(-1)).toMatchObject({ kind: 'accepted', changes: { server: ['tls'], needs_restart: [] } });
  });

  it('are reloaded when they are renamed into place, twice', async () => {
    writePair(one);
    await serve(textOf(tls()));
    for (const pair of [two, three]) {
      for (const [name, text] of [
        ['tls.key', pair.key],
        ['tls.crt', pair.certificate],
      ] as const) {
        write('.tmp', text);
        renameSync(join(folder, '.tmp'), join(folder, name));
      }
      await isServed(pair);
    }
  });

  it('that do not match keep the active pair, and the problem names their position in the manifest', async () => {
    writePair(one, 'secret');
    await serve(textOf(tls('./secret')));
    const { plan } = gateway;
    write('secret/tls.key', two.key);
    await isReported('rejected');
    const last = reported.at(-1);
    const [problem] = last?.kind === 'rejected' ? last.problems : [];
    expect(problem?.message).toContain('this key does not belong to the certificate');
    expect(problem?.range.line).toBe(3);
    expect(JSON.stringify(reported)).not.toContain(two.key.split('\n')[1]);
    expect(gateway.plan).toBe(plan);
    expect(await servedCertificate()).toBe(one.certificate);
    write('secret/tls.key', one.key);
    await isReported('accepted');
  });

  it('keep the active pair while one file is missing', async () => {
    writePair(one);
    await serve(textOf(tls()));
    unlinkSync(join(folder, 'tls.key'));
    await isReported('rejected');
    expect(await servedCertificate()).toBe(one.certificate);
    writePair(two);
    await isServed(two);
  });

  it('are reloaded when Kubernetes swaps the link in their folder', async () => {
    const secret = join(folder, 'secret');
    const swap = (version: string, pair: Pair) => {
      writePair(pair, `secret/${version}`);
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

  it('are reloaded when their folder is a link that is swapped', async () => {
    for (const [name, pair] of [
      ['v1', one],
      ['v2', two],
    ] as const)
      writePair(pair, name);
    symlinkSync('v1', join(folder, 'current'));
    await serve(textOf(tls('./current')));
    symlinkSync('v2', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
    await isServed(two);
  });

  it('are reloaded once they exist if the manifest named them before', async () => {
    writePair(one);
    await serve(textOf(tls()));
    writeFileSync(join(folder, 'gateway.yaml'), textOf(tls('./later')));
    await isReported('rejected');
    writePair(two, 'later');
    await isServed(two);
    // The manifest does not name the previous files now.
    const count = reported.length;
    writePair(three);
    writePair(one, 'later');
    await isServed(one);
    expect(reported.slice(count).filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
  });

  it('cause no reload when they are written again with the same content', async () => {
    writePair(one);
    await serve(textOf(tls()));
    const outcome = nextReload(reloader);
    writePair(one);
    expect(await outcome).toMatchObject({ kind: 'unchanged' });
    expect(reported).toEqual([]);
    writePair(two);
    await isServed(two);
  });

  it('are reloaded if they changed before the watch was set up', async () => {
    writePair(one);
    await serve(textOf(tls()));
    writePair(two);
    await isServed(two);
  });
});

describe('a schema in a file', () => {
  it('is reported at its place in the file when it becomes invalid', async () => {
    write('schemas/contact.yaml', 'type: object\nmaxProperties: 3\n');
    const body = ', body: { schema: { $ref: schemas/contact.yaml } } }';
    await serve(manifest(ROUTE.replace('any', 'POST').replace(' }', body), { up: upstream.url }));
    write('schemas/contact.yaml', 'type: object\nmaxPropertys: 3\n');
    await isReported('rejected');
    const rejected = reported.at(-1);
    if (rejected?.kind !== 'rejected') return;
    expect(reportProblems(rejected)).toMatchObject([
      {
        file: join(folder, 'schemas/contact.yaml'),
        line: 2,
        column: 1,
        frame: expect.stringContaining('2 │ maxPropertys'),
      },
    ]);
  });
});

describe('a key file', () => {
  const keysOf = (...keys: SigningKey[]) => JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
  const statusOf = async (key: SigningKey) => {
    const token = tokenOf(
      { alg: 'ES256', kid: key.jwk.kid },
      claims({ iss: 'https://identity.test', aud: 'gateway-test', company_role: 'user' }),
      key,
    );
    return (await sendRequest(port, head('GET /x HTTP/1.1', `Authorization: Bearer ${token}`))).status;
  };

  it('is reloaded when it changes; an invalid one keeps the active keys', async () => {
    const [one, two] = [ecKey('one'), ecKey('two')];
    write('keys.json', keysOf(one));
    await serve(textOf('{}', './keys.json'));
    expect([await statusOf(one), await statusOf(two)]).toEqual([200, 401]);
    write('keys.json', keysOf(two));
    await eventually('the keys are active', async () => (await statusOf(two)) === 200);
    expect(await statusOf(one)).toBe(401);
    write('keys.json', '{ "keys": [');
    await isReported('rejected');
    expect(await statusOf(two)).toBe(200);
  });
});

describe('a pipe in place of a file', () => {
  const included = '{}\ninclude: more/*.yaml';

  it('is rejected without blocking a thread, and the active manifest stays', async () => {
    write('more/a.yaml', `routes:\n${ROUTE.replaceAll('a,', 'b,').replace('/**', '/b')}`);
    await serve(textOf(included));
    const pipe = join(folder, 'more/b.yaml');
    execFileSync('mkfifo', [pipe]);
    try {
      await isReported('rejected');
      expect(JSON.stringify(reported.at(-1))).toContain('the file \\"more/b.yaml\\" cannot be read');
    } finally {
      // Unblocks a reader that still waits for the pipe.
      const file = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
      unlinkSync(pipe);
      closeSync(file);
    }
    await isReported('accepted');
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import type { AddressOverrides } from '../../src/engine/manifest/source.ts';
import { findAddressError } from '../../src/engine/settings/address.ts';
import { loadText } from '../manifest/support.ts';
import { type CliProcess, runInThisProcess, startCli } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { worldOf } from '../support/gateway.ts';
import '../support/seed.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const started: CliProcess[] = [];
afterEach(async () => {
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
});

const TOKEN = '7mWq2vXc9RtLkP4zGhN8';
const REST = `server: { stopping: { delay: 0s } }
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;
/** The addresses are not available: a listener on them would fail. */
const manifest = (admin: string) => `version: 1\nlisten: 192.0.2.1:80\n${admin}${REST}`;

const folderOf = (text: string) => temporaryFolder('addresses', { 'gateway.yaml': text });

function start(text: string, args: string[], env: Record<string, string> = {}) {
  const folder = folderOf(text);
  const cli = startCli(['run', ...args], folder, env);
  started.push(cli);
  return { ...cli, folder };
}

/** Returns the line of the log that reports the addresses. */
async function serving(
  cli: CliProcess,
): Promise<Record<string, unknown> & { readonly url: string; readonly admin: string }> {
  const [line] = await cli.waitFor(/^\{.*"msg":"serving"\}$/m);
  return JSON.parse(line);
}

describe('--listen and --admin', () => {
  it('replace the addresses of the manifest, and the log and /status report them', async () => {
    const overrides = { listen: '127.0.0.1:0', admin: '127.0.0.1:0' };
    const cli = start(manifest('admin: 192.0.2.1:81\n'), ['--listen', overrides.listen, '--admin', overrides.admin]);
    const line = await serving(cli);
    expect(line).toMatchObject({
      overrides,
      url: expect.stringContaining('127.0.0.1'),
      admin: expect.stringContaining('127.0.0.1'),
    });
    expect((await fetch(`${line.url}/nowhere`)).status).toBe(404);
    expect(await (await fetch(`${line.admin}/status`)).json()).toMatchObject({ overrides, needs_restart: [] });
  });

  it('are not in the log and are empty in /status without these options', async () => {
    const text = `version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:0\n${REST}`;
    const cli = start(text, []);
    const line = await serving(cli);
    expect(Object.keys(line)).not.toContain('overrides');
    expect(await (await fetch(`${line.admin}/status`)).json()).toMatchObject({ overrides: {} });
  });

  it('start the admin API of a manifest without one', async () => {
    const line = await serving(start(manifest(''), ['--listen', '127.0.0.1:0', '--admin', 'localhost:0']));
    expect((await fetch(`${line.admin}/readyz`)).status).toBe(200);
  });

  it('keep the access control of the manifest', async () => {
    const admin = "admin: { listen: '192.0.2.1:81', token: '${ADMIN_TOKEN}' }\n";
    const args = ['--listen', '127.0.0.1:0', '--admin', '0.0.0.0:0'];
    const line = await serving(start(manifest(admin), args, { ADMIN_TOKEN: TOKEN }));
    const address = line.admin.replace('0.0.0.0', '127.0.0.1');
    expect((await fetch(`${address}/status`)).status).toBe(401);
    expect((await fetch(`${address}/status`, { headers: { authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
  });

  it.each([
    ['without "admin"', ''],
    ['with an address', 'admin: 127.0.0.1:9901\n'],
    ['with a map', 'admin: { listen: 127.0.0.1:9901 }\n'],
  ])('require access control outside of loopback in a manifest %s', async (_name, admin) => {
    const args = ['run', '--listen', '127.0.0.1:0', '--admin', '0.0.0.0:0'];
    const { code, out, err } = await runInThisProcess(args, folderOf(manifest(admin)));
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /error other machines can reach the admin API here without authentication; .*\[admin-exposed\]/,
    );
    expect(err).toMatch(/^--admin 0\.0\.0\.0:0 replaces the address of "admin" in the manifest$/m);
  });

  it('refuse one port for both', async () => {
    const port = await freePort();
    const args = ['run', '--listen', `127.0.0.1:${port}`, '--admin', `127.0.0.1:${port}`];
    const { code, err } = await runInThisProcess(args, folderOf(manifest('')));
    expect([code, err]).toEqual([1, expect.stringContaining('"listen" already uses this port')]);
  });

  it('stay after a reload, which needs no restart for an address that they replace', async () => {
    const cli = start(manifest('admin: 192.0.2.1:81\n'), ['--listen', '127.0.0.1:0', '--admin', '127.0.0.1:0']);
    const line = await serving(cli);
    const text = manifest('admin: 192.0.2.7:81\n').replace('192.0.2.1:80', '192.0.2.7:80').replaceAll('one', 'two');
    writeFileSync(join(cli.folder, 'gateway.yaml'), text);
    await cli.waitFor(/^the saved manifest is active; added: two; removed: one; now public: two$/m);
    expect(await (await fetch(`${line.admin}/status`)).json()).toMatchObject({ needs_restart: [] });
    writeFileSync(join(cli.folder, 'gateway.yaml'), text.replace('listen: 192.0.2.7:80', 'listen: nowhere'));
    await cli.waitFor(/gateway\.yaml:2:9 error/);
  });

  it.each([
    ['8080', 'this is not a host and a port; write for example 127.0.0.1:8080 or [::1]:8080'],
    [':8080', 'this is not a host and a port'],
    ['127.0.0.1:65536', 'a port is at most 65535'],
    ['127.0.0.1.5:80', 'this is not an IPv4 address'],
    ['[::g]:80', 'this is not a host and a port'],
  ])('refuse %s before the manifest is read', async (address, message) => {
    for (const option of ['--listen', '--admin']) {
      const { code, err } = await runInThisProcess(
        ['run', 'missing.yaml', option, address],
        temporaryFolder('addresses'),
      );
      expect([code, err]).toEqual([2, expect.stringContaining(`${option} ${address}: ${message}`)]);
    }
  });
});

describe('load with overrides', () => {
  const address = fc.constantFrom(
    '127.0.0.1:8080',
    '127.0.0.1:9901',
    '0.0.0.0:9901',
    '[::1]:8080',
    'localhost:0',
    '192.0.2.1:80',
  );
  const admin = fc.constantFrom(
    undefined,
    (text: string) => `'${text}'`,
    (text: string) => `{ listen: '${text}' }`,
    (text: string) => `{ listen: '${text}', token: '\${ADMIN_TOKEN}' }`,
    (text: string) => `{ listen: '${text}', token: '\${SHORT_TOKEN}' }`,
  );
  const textOf = (listen: string | undefined, adminEntry: string | undefined) =>
    `version: 1\n${listen === undefined ? '' : `listen: '${listen}'\n`}${adminEntry === undefined ? '' : `admin: ${adminEntry}\n`}${REST}`;
  const env = { ADMIN_TOKEN: TOKEN, SHORT_TOKEN: 'short' };
  const resultOf = (text: string, overrides: AddressOverrides) => {
    const { plan, problems } = load({ path: 'gateway.yaml', text }, { ...worldOf(), env, overrides });
    return { listen: plan?.listen, admin: plan?.admin?.key, rules: problems.map(({ rule }) => rule) };
  };

  it('gives the plan and the problems of a manifest with these addresses', () => {
    fc.assert(
      fc.property(
        fc.option(address, { nil: undefined }),
        admin,
        address,
        fc.option(address, { nil: undefined }),
        fc.option(address, { nil: undefined }),
        (listen, adminOf, adminAddress, newListen, newAdmin) => {
          const overrides = {
            ...(newListen === undefined ? {} : { listen: newListen }),
            ...(newAdmin === undefined ? {} : { admin: newAdmin }),
          };
          const entry =
            newAdmin === undefined ? adminOf?.(adminAddress) : (adminOf ?? ((text) => `'${text}'`))(newAdmin);
          const expected = resultOf(textOf(newListen ?? listen, entry), {});
          expect(resultOf(textOf(listen, adminOf?.(adminAddress)), overrides)).toEqual(expected);
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it.each(['', 'null', '[]', 'text', 'routes: 1', 'admin: 7', 'listen: {}'])(
    'does not fail for the manifest %j',
    (text) => {
      const overrides = { listen: '127.0.0.1:0', admin: '127.0.0.1:0' };
      expect(resultOf(text, overrides).rules).toEqual(resultOf(text, {}).rules);
    },
  );
});

describe('findAddressError', () => {
  it('accepts the addresses that a manifest accepts', () => {
    const { pattern } = JSON.parse(readFileSync(new URL('../../schema/gateway.schema.json', import.meta.url), 'utf8'))
      .$defs.Address;
    const parts = [
      '127.0.0.1',
      '0.0.0.0',
      '[::1]',
      '[::]',
      'localhost',
      'a-b.c',
      'ä',
      '',
      ':',
      '80',
      '8080',
      '70000',
      ' ',
      '%',
      '256.1.1.1',
      '[',
      ']',
    ];
    const texts = parts.flatMap((one) => parts.flatMap((two) => [one + two, `${one}:${two}`]));
    const accepted = texts.filter((text) => findAddressError(text) === undefined);
    const loads = (text: string) =>
      new RegExp(pattern).test(text) && loadText(`version: 1\nlisten: '${text}'\n${REST}`).problems.length === 0;
    expect(accepted).toEqual(texts.filter(loads));
    expect(accepted.length).toBeGreaterThan(10);
  });
});

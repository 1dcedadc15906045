import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

describe('init', () => {
  it('writes a formatted manifest without problems, and tests that cover it and notice every change', async () => {
    const folder = temporaryFolder('init');
    const { code, out, err } = await runCli(['init'], folder);
    expect([code, out]).toEqual([0, 'gateway.yaml\ngateway.test.yaml\n']);
    expect(err).toContain('signing-gateway lint gateway.yaml');
    expect(readdirSync(folder).sort()).toEqual(['gateway.test.yaml', 'gateway.yaml']);
    expect(await runCli(['lint'], folder)).toEqual({
      code: 0,
      out: '',
      err: 'no problems in gateway.yaml: 2 routes\n',
    });
    expect((await runCli(['fmt', '--check', 'gateway.yaml', 'gateway.test.yaml'], folder)).code).toBe(0);
    expect((await runCli(['lint', '--preset', 'strict', '--fail-on', 'warning'], folder)).code).toBe(0);
    expect(await runCli(['test', '--mutate', '--fail-under', '100'], folder)).toMatchObject({ code: 0, err: '' });
    const routes = (await runCli(['routes'], folder)).out;
    expect([routes.match(/ public /g)?.length, routes.match(/ protected /g)?.length]).toEqual([1, 1]);
  });

  it('refers editors to the schema from any folder', async () => {
    const folder = temporaryFolder('init');
    mkdirSync(join(folder, 'deploy'));
    expect((await runCli(['init', 'deploy/edge.yaml'], folder)).out).toBe('deploy/edge.yaml\ndeploy/edge.test.yaml\n');
    const file = join(folder, 'deploy/edge.yaml');
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(readFileSync(file, 'utf8')) ?? [];
    expect(JSON.parse(readFileSync(resolve(dirname(file), schema), 'utf8')).$id).toBe('urn:signing-gateway:manifest:1');
    expect(readFileSync(join(folder, 'deploy/edge.test.yaml'), 'utf8')).toContain('\nmanifest: edge.yaml\n');
  });

  it.each(['gateway.yaml', 'gateway.test.yaml'])('does not replace an existing %s and writes nothing', async (name) => {
    const folder = temporaryFolder('init');
    writeFileSync(join(folder, name), 'mine');
    const { code, out, err } = await runCli(['init'], folder);
    expect([code, out]).toEqual([2, '']);
    expect(err).toBe(`signing-gateway: ${name} already exists; name another file, or remove this one\n`);
    expect(readdirSync(folder)).toEqual([name]);
    expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
  });

  it('does not write through a broken symbolic link', async () => {
    const folder = temporaryFolder('init');
    symlinkSync('elsewhere.yaml', join(folder, 'gateway.yaml'));
    expect((await runCli(['init'], folder)).code).toBe(2);
    expect(readdirSync(folder)).toEqual(['gateway.yaml']);
  });
});

describe('schema', () => {
  it.each([
    [[], 'gateway.schema.json'],
    [['--tests'], 'gateway-test.schema.json'],
    [['--report'], 'lint-report.schema.json'],
  ])('prints the schema for %j: %s', async (args, name) => {
    const { code, out } = await runCli(['schema', ...args], tmpdir());
    expect([code, out]).toEqual([0, readFileSync(new URL(`../../schema/${name}`, import.meta.url), 'utf8')]);
  });
});

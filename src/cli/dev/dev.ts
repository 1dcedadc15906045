import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SandboxOptions } from '../../../examples/platform/sandbox.ts';
import { fileErrorCode } from '../../engine/manifest/source.ts';
import { durationMs } from '../../engine/manifest/units.ts';
import { ADDRESS_OPTIONS, readOverrides } from '../address-options.ts';
import { MANIFEST_OPTIONS, parseSingleManifestArguments } from '../manifest-file.ts';
import { loadForServing, serveFile } from '../run/run.ts';
import { CommandError, type Options, UsageError, type Verb } from '../terminal.ts';

const DATABASE = '.sandbox/sandbox.db';
const FOLDER = dirname(DATABASE);
const DEFAULT_JOB_TIME = '3s';

const OPTIONS = {
  ...ADDRESS_OPTIONS,
  'sandbox-ports': {
    type: 'string',
    valueName: 'PORTS',
    summary: 'the ports of the sandbox, identity and platform, for example 7101,7102; 0 is any free port',
  },
  'job-time': {
    type: 'string',
    valueName: 'DURATION',
    summary: `how long a job of the sandbox takes at least (default ${DEFAULT_JOB_TIME})`,
  },
  reset: { type: 'boolean', summary: 'delete the sandbox data and start with fresh data' },
} as const satisfies Options;

export const dev: Verb = {
  usage:
    'signing-gateway dev [FILE] [--listen ADDRESS] [--admin ADDRESS] [--sandbox-ports PORTS] [--job-time DURATION] [--reset]',
  options: { ...MANIFEST_OPTIONS, ...OPTIONS },
  examples: ['signing-gateway dev', 'signing-gateway dev --listen 127.0.0.1:8081', 'signing-gateway dev --reset'],
  async run(terminal) {
    const { file, flags, values } = parseSingleManifestArguments(terminal.args, OPTIONS);
    const overrides = readOverrides(values);
    // Imported lazily: the completion script loads every verb, and the sandbox needs a newer version of Node.
    const { findNeededServices, startServices, withPlaceholders } = await import('./local-services.ts');
    const { welcome } = await import('./welcome.ts');
    const ports = readPorts(values['sandbox-ports']);
    const jobTimeMs = readJobTime(values['job-time']);
    // Loaded before anything starts: an invalid manifest leaves no folder behind, and a valid one says which services it needs.
    const env = withPlaceholders(terminal.env);
    const planned = await loadForServing(file, { ...terminal, env }, overrides);
    if (planned === undefined) return 1;
    const needed = findNeededServices(planned, terminal.env);
    const hadFolder = existsSync(FOLDER);
    let isServing = false;
    let services: Awaited<ReturnType<typeof startServices>> | undefined;
    try {
      if (needed.sandbox) prepareFolder(flags.has('reset'));
      const options = { file: DATABASE, ...ports, jobTimeMs };
      services = await startServices(needed, planned.manifest, options);
      const started = services;
      const serving = { ...terminal, env: { ...terminal.env, ...started.environment } };
      return await serveFile(file, serving, {
        overrides,
        stopsAtOnce: true,
        welcome: (gateway) => {
          isServing = true;
          started.sandbox?.setGatewayUrl(gateway.url);
          return welcome(file, gateway, started);
        },
      });
    } finally {
      await services?.[Symbol.asyncDispose]();
      if (!isServing && !hadFolder) rmSync(FOLDER, { recursive: true, force: true });
    }
  },
};

function readPorts(text: string | undefined): Pick<SandboxOptions, 'identityPort' | 'platformPort'> {
  if (text === undefined) return {};
  const ports = /^(\d{1,5}),(\d{1,5})$/.exec(text)?.slice(1).map(Number) ?? [];
  const [identityPort, platformPort] = ports;
  if (identityPort === undefined || platformPort === undefined || ports.some((port) => port > 65_535))
    throw new UsageError(`--sandbox-ports ${text}: write two ports, for identity and platform, for example 7101,7102`);
  return { identityPort, platformPort };
}

function readJobTime(text = DEFAULT_JOB_TIME): number {
  if (!/^\d{1,6}(?:ms|s|m)$/.test(text))
    throw new UsageError(`--job-time ${text}: write a duration, for example 500ms or 3s`);
  return durationMs(text);
}

function prepareFolder(isReset: boolean): void {
  if (isReset) for (const suffix of ['', '-wal', '-shm']) rmSync(DATABASE + suffix, { force: true });
  try {
    mkdirSync(FOLDER, { recursive: true });
  } catch (error) {
    throw new CommandError(
      `cannot create ${FOLDER} for the sandbox data: ${fileErrorCode(error)}; run the command in a folder you can write to`,
    );
  }
}

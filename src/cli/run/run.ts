import { flushCompileCache } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PlannedManifest } from '../../engine/load.ts';
import { createFileEnvironment } from '../../engine/manifest/source.ts';
import { formatProblems } from '../../report/text.ts';
import { ADDRESS_OPTIONS, formatOverrides, readOverrides } from '../address-options.ts';
import { loadTested, readSource } from '../manifest-file.ts';
import { MANIFEST_OPTIONS, namedManifest } from '../named-manifest.ts';
import { valueOption } from '../parse-arguments.ts';
import { defineVerb, type ExitCode, InvalidFileError, type OptionValues, type Terminal } from '../terminal.ts';
import { type GatewayStart, type RunningGateway, startGateway } from './start-gateway.ts';
import { openStreams, writeNote } from './streams.ts';
import { limitYoungSpace, setV8Flags } from './v8-flags.ts';
import { CANDIDATE_OPTIONS, readCandidate } from './watch-candidate.ts';

/** Where Docker and Podman mount secrets. */
const DEFAULT_SECRETS_FOLDER = '/run/secrets';

/** The options of the verbs that serve. */
export const SERVING_OPTIONS = {
  ...MANIFEST_OPTIONS,
  ...ADDRESS_OPTIONS,
  'secrets-dir': valueOption('FOLDER', `the folder of secret files (default ${DEFAULT_SECRETS_FOLDER})`),
} as const;
const OPTIONS = { ...SERVING_OPTIONS, ...CANDIDATE_OPTIONS };

export const verb = defineVerb({
  usage: 'signing-gateway run [FILE] [--listen ADDRESS] [--admin ADDRESS] [--secrets-dir FOLDER] [--candidate FILE]',
  options: OPTIONS,
  examples: [
    'signing-gateway run',
    'signing-gateway run /etc/signing-gateway/gateway.yaml',
    'signing-gateway run --listen 0.0.0.0:8080 --admin 127.0.0.1:9901',
    'signing-gateway run gateway.yaml --candidate next.yaml',
  ],
  async run(terminal, { values, positionals }) {
    const candidate = readCandidate(values);
    return serveFile(namedManifest(values, positionals), terminal, { ...readSources(values), candidate });
  },
});

/** Returns the addresses and the folder of secrets that the options name, or the default ones. */
export function readSources(values: OptionValues<typeof SERVING_OPTIONS>) {
  return { overrides: readOverrides(values), secretsFolder: values['secrets-dir'] ?? DEFAULT_SECRETS_FOLDER };
}

/** The addresses at which a gateway serves, and its manifest at startup. */
export interface ServingGateway extends Pick<RunningGateway, 'url' | 'adminUrl'> {
  readonly initial: PlannedManifest;
}

export interface ServeOptions extends Pick<GatewayStart, 'overrides' | 'secretsFolder' | 'candidate'> {
  /** Returns the text to print once the gateway listens. By default nothing is printed. */
  readonly welcome?: (gateway: ServingGateway) => string;
  /** True if a stop signal ends open requests at once. By default they have the time of `server.stopping`. */
  readonly stopsAtOnce?: boolean;
}

/** Serves a manifest file until `terminal.stop` is aborted. */
export async function serveFile(file: string, terminal: Terminal, options: ServeOptions): Promise<ExitCode> {
  const initial = await loadForServing(file, terminal, options);
  // A signal that arrived while this thread was busy is delivered in the next turn of the event loop.
  await nextTurn();
  if (terminal.stop.aborted) return 0;
  // Node otherwise keeps the 2 MB of compiled code that it has read from its cache.
  flushCompileCache();
  setV8Flags('starting');
  const streams = openStreams(terminal);
  const start = { ...options, file, initial, terminal, streams };
  const running = await startGateway(start);
  setV8Flags('serving');
  if (running?.workerCount === 1) limitYoungSpace();
  if (running !== undefined) await serveUntilStopped(running, start);
  await Promise.all([streams.log.end(), streams.notes.end()]);
  return 0;
}

/** Logs the addresses, waits for the signal and stops the gateway. */
async function serveUntilStopped(
  { url, adminUrl, stop }: RunningGateway,
  { file, initial, overrides, welcome, stopsAtOnce, streams, terminal }: ServeOptions & GatewayStart,
): Promise<void> {
  const { log, notes } = streams;
  const { hash, routes } = initial.plan;
  const replaced = Object.keys(overrides).length > 0 ? { overrides } : {};
  log.logger.info({ url, admin: adminUrl, ...replaced, manifest: file, hash, routes: routes.length }, 'serving');
  writeNote(notes, welcome?.({ url, adminUrl, initial }) ?? '');
  await waitForAbort(terminal.stop);
  await stop(terminal.stop.reason, stopsAtOnce);
  log.logger.info('stopped');
}

/** Loads a manifest and runs its self-test. Throws an `InvalidFileError` if it must not be served. */
export async function loadForServing(
  file: string,
  terminal: Terminal,
  { overrides, secretsFolder }: Pick<ServeOptions, 'overrides' | 'secretsFolder'>,
): Promise<PlannedManifest> {
  const environment = createFileEnvironment(file, terminal.env, overrides, secretsFolder);
  const { loaded, selfTest } = await loadTested(readSource(file), environment);
  if (loaded.plan !== undefined && selfTest.problems.length === 0) return loaded;
  const { problems, sources } = loaded.plan === undefined ? loaded : selfTest;
  throw new InvalidFileError(formatProblems(problems, sources, terminal.errColour) + formatOverrides(overrides), 1);
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

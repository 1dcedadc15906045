import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import type { PlannedManifest } from '../../load.ts';
import { runInSlices } from '../../plan/sliced-work.ts';
import { formatProblems } from '../format.ts';
import { MANIFEST_OPTIONS, parseSingleManifestArguments, readSource } from '../manifest-file.ts';
import type { ExitCode, Terminal, Verb } from '../terminal.ts';
import { loadTested } from '../tested-manifest.ts';
import { startGateway } from './start-gateway.ts';
import { openStreams, writeNote } from './streams.ts';

export const run: Verb = {
  usage: 'signing-gateway run [FILE]',
  options: MANIFEST_OPTIONS,
  examples: ['signing-gateway run', 'signing-gateway run /etc/signing-gateway/gateway.yaml'],
  async run(terminal) {
    const { file } = parseSingleManifestArguments(terminal.args, {});
    return serveFile(file, terminal, () => '');
  },
};

/** Schemas that are compiled before the first request. Each takes a few milliseconds; the others are compiled on first use. */
const SCHEMAS_AT_START = 200;
/** The longest time that compiling them delays a signal. */
const SLICE_MS = 50;

/**
 * Serves a manifest file until `terminal.stop` is aborted.
 *
 * @param welcome returns the text to print once the gateway listens
 */
export async function serveFile(
  file: string,
  terminal: Terminal,
  welcome: (url: string, adminUrl: string | undefined) => string,
): Promise<ExitCode> {
  const initial = await loadForServing(file, terminal);
  if (initial === undefined) return 1;
  // A signal that arrived while this thread was busy is delivered in the next turn of the event loop.
  await nextTurn();
  if (terminal.stop.aborted) return 0;
  if (initial.plan.compilations !== undefined)
    await runInSlices(initial.plan.compilations.compileAhead(SCHEMAS_AT_START), SLICE_MS);
  if (terminal.stop.aborted) return 0;
  // V8 otherwise learns that some objects of a request are long-lived and allocates all later ones in the old generation.
  // There they keep a quarter of all requests in memory until the next full collection, which costs 12 µs per request.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const streams = openStreams(terminal);
  const { log, notes } = streams;
  const { url, adminUrl, stop } = await startGateway(file, initial, terminal, streams);
  const { hash, routes } = initial.plan;
  log.logger.info({ url, admin: adminUrl, manifest: file, hash, routes: routes.length }, 'serving');
  writeNote(notes, welcome(url, adminUrl));

  await waitForAbort(terminal.stop);
  await stop(terminal.stop.reason);
  log.logger.info('stopped');
  await Promise.all([log.end(), notes.end()]);
  return 0;
}

/** Loads a manifest and runs its self-test. Prints the problems and returns `undefined` if it must not be served. */
async function loadForServing(file: string, terminal: Terminal): Promise<PlannedManifest | undefined> {
  const { loaded, selfTest } = await loadTested(readSource(file), terminal.env);
  if (loaded.plan !== undefined && selfTest.problems.length === 0) return loaded;
  const { problems, sources } = loaded.plan === undefined ? loaded : selfTest;
  terminal.err(formatProblems(problems, sources, terminal.errColour));
  return undefined;
}

function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

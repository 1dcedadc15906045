import type { Gateway } from '../../engine/gateway/gateway.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { ReloadOutcome } from '../../process/reload/reload-outcome.ts';
import { reportProblems } from '../../process/reload/reload-report.ts';
import { Reloader, type ReloaderOptions } from '../../process/reload/reloader.ts';
import { formatProblems } from '../../report/text.ts';
import type { CandidateControl } from '../../traffic/candidate/candidate-control.ts';
import { parseShare, valueOption } from '../parse-arguments.ts';
import { type Options, type OptionValues, type Terminal, UsageError } from '../terminal.ts';
import { type Streams, writeNote } from './streams.ts';

export interface CandidateFile {
  readonly path: string;
  /** The share of the requests to compare, from 0 to 1. */
  readonly sample: number;
}

/** Loads the file of `--candidate` and watches it like the manifest. A file with problems changes nothing until it is corrected. */
export function watchCandidate(
  { path, sample }: CandidateFile,
  {
    gateway,
    control,
    ...options
  }: { gateway: Gateway; control: CandidateControl } & Pick<ReloaderOptions, 'overrides' | 'secretsFolder'>,
  { env, errColour }: Terminal,
  streams: Streams,
): Reloader {
  const target = {
    get plan() {
      return gateway.plan;
    },
    // The candidate counts no request in a store.
    prepare: (planned: PlannedManifest) => control.prepare(planned),
    activate: (planned: PlannedManifest) => control.activate(planned, 'file', sample),
  };
  const initial = { files: new Map<string, string>(), globs: new Map(), secretFiles: new Map(), sources: [] };
  const onReload = (outcome: ReloadOutcome) => logCandidate(path, outcome, streams, errColour);
  const reloader = new Reloader({ ...options, path, env, gateway: target, initial, onReload });
  void reloader.reload('request');
  return reloader;
}

/** Logs that a candidate was loaded or rejected, and prints its problems for a person. */
function logCandidate(file: string, outcome: ReloadOutcome, { log: { logger }, notes }: Streams, colour: boolean) {
  if (outcome.kind === 'accepted') {
    const { hash, summary } = outcome;
    logger.info({ file, hash, summary }, 'candidate loaded; the gateway compares requests with it');
  } else if (outcome.kind === 'unreadable' || outcome.kind === 'failed') {
    const message =
      outcome.kind === 'failed' ? 'candidate could not be loaded; the gateway tries again' : 'candidate cannot be read';
    logger.error({ file, reason: outcome.reason }, message);
  } else if (outcome.kind === 'rejected') {
    logger.error({ file, problems: reportProblems(outcome) }, 'candidate rejected');
    writeNote(notes, formatProblems(outcome.problems, outcome.sources, colour));
  }
}

export const CANDIDATE_OPTIONS = {
  candidate: valueOption('FILE', 'a manifest to compare the requests with; it decides about none of them'),
  'candidate-sample': valueOption('SHARE', 'the share of the requests to compare, above 0 and at most 1 (default 1)'),
} as const satisfies Options;

/** Returns the file that the options name. Throws a `UsageError` for an invalid share. */
export function readCandidate(values: OptionValues<typeof CANDIDATE_OPTIONS>): CandidateFile | undefined {
  const { candidate: path, 'candidate-sample': share } = values;
  const sample = parseShare('candidate-sample', share);
  if (path !== undefined) return { path, sample };
  if (share !== undefined) throw new UsageError('--candidate-sample needs --candidate FILE');
  return undefined;
}

import type { Gateway } from '../../engine/gateway/gateway.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { AddressOverrides } from '../../engine/manifest/source.ts';
import type { ReloadOutcome } from '../../process/reload/reload-outcome.ts';
import { Reloader } from '../../process/reload/reloader.ts';
import type { CandidateControl } from '../../traffic/candidate/candidate-control.ts';
import type { Terminal } from '../terminal.ts';
import { logCandidate } from './candidate-log.ts';
import type { Streams } from './streams.ts';

export interface CandidateFile {
  readonly path: string;
  /** The share of the requests to compare, from 0 to 1. */
  readonly sample: number;
}

/** Loads the file of `--candidate` and watches it like the manifest. A file with problems changes nothing until it is corrected. */
export function watchCandidate(
  { path, sample }: CandidateFile,
  { gateway, control, overrides }: { gateway: Gateway; control: CandidateControl; overrides: AddressOverrides },
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
  const initial = { files: new Map<string, string>(), globs: new Map<string, string>(), sources: [] };
  const onReload = (outcome: ReloadOutcome) => logCandidate(path, outcome, streams, errColour);
  const reloader = new Reloader({ path, env, overrides, gateway: target, initial, onReload });
  void reloader.reload('request');
  return reloader;
}

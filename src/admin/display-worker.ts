import { parentPort, workerData } from 'node:worker_threads';
import type { Source } from '../engine/manifest/source.ts';
import { createFileDisplays, type SecretProblem } from './manifest-display.ts';

/** The data that `ManifestDisplays` starts this thread with. The thread ends after its response. */
export interface DisplayInput {
  readonly sources: readonly Source[];
  readonly problems: readonly SecretProblem[];
}

const { sources, problems } = workerData as DisplayInput;
const displays = createFileDisplays(sources, problems);
parentPort?.postMessage(
  displays,
  displays.flatMap(({ secrets, routes }) => [secrets.buffer, routes.buffer] as ArrayBuffer[]),
);

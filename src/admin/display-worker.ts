import { parentPort, workerData } from 'node:worker_threads';
import { createFileDisplays, type DisplayInput } from './manifest-display.ts';

/** The data that `ManifestDisplays` starts this thread with. The thread ends after its response. */
const { sources, problems } = workerData as DisplayInput;
const displays = createFileDisplays(sources, problems);
parentPort?.postMessage(
  displays,
  displays.flatMap(({ secrets, routes }) => [secrets.buffer, routes.buffer] as ArrayBuffer[]),
);

/** The first module of a worker, which `serving-worker.ts` starts. The rest of the code is loaded below. */
import module from 'node:module';
import { workerData } from 'node:worker_threads';
import { omitWebSocketClient } from '../lean-http.ts';
import type { WorkerSetup } from './messages.ts';

const { compileCacheFolder } = workerData as WorkerSetup;
// A thread does not inherit the cache of compiled code.
if (compileCacheFolder !== undefined) module.enableCompileCache(compileCacheFolder);
omitWebSocketClient();
await import('./worker.ts');

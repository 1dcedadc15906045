/** The first module of a worker, which `serving-worker.ts` starts. The rest of the code is loaded below. */
import { omitWebSocketClient } from '../../engine/node-internals/built-in-modules.ts';

omitWebSocketClient();
await import('./worker.ts');

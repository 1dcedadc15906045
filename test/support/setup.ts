/** Runs before the tests of each file, also where several files share a process and its modules. */
import module from 'node:module';
import { afterAll } from 'vitest';
import './seed.ts';
import { removeTemporaryFolders } from './temporary-folder.ts';

// The threads of workers share the cache, as in the process of the gateway.
module.enableCompileCache(process.env['XDG_CACHE_HOME']);

afterAll(removeTemporaryFolders);

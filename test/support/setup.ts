/** Runs before the tests of each file, also where several files share a process and its modules. */
import { afterAll } from 'vitest';
import './seed.ts';
import { removeTemporaryFolders } from './temporary-folder.ts';

afterAll(removeTemporaryFolders);

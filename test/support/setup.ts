/** Runs before the tests of each file, also where several files share a process and its modules. */
import { afterAll } from 'vitest';
import './seed.ts';
import { removeTemporaryFolders } from './temporary-folder.ts';

/** Installed packages have many files. */
const REMOVAL_TIMEOUT_MS = 300_000;

afterAll(removeTemporaryFolders, REMOVAL_TIMEOUT_MS);

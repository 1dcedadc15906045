import { mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { attempt } from '../engine/attempt.ts';

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;
const MAX_AGE_MS = 30 * 86_400_000;
/** An installation has a tenth of it. Each path has entries of its own, which stay when its files are gone. */
const MAX_ENTRIES = 4_096;

/** Returns the user's folder for compiled code; `undefined` if another user may write there. `user` is `undefined` on Windows. */
export function findCacheFolder(env: Readonly<Record<string, string | undefined>>, user: number | undefined) {
  return attempt(() => {
    const home = env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
    const folder = join(home, 'signing-gateway');
    // With the option `recursive`, Node tries forever where the file system refuses a new folder with ENOENT, as /proc does.
    for (const path of [home, folder]) attempt(() => mkdirSync(path, { mode: 0o700 }));
    return user === undefined || isPrivate(realpathSync(folder), user) ? folder : undefined;
  });
}

/** Removes the code of other versions or flags of Node that is older than 30 days, and that of this one if it is far too much. */
export function pruneCacheFolder(folder: string, current: string | undefined): void {
  attempt(() => {
    for (const name of readdirSync(folder).filter((entry) => /^v\d+\./.test(entry))) {
      const path = join(folder, name);
      const isOld = path !== current && Date.now() - statSync(path).mtimeMs > MAX_AGE_MS;
      if (isOld || (path === current && readdirSync(path).length > MAX_ENTRIES)) rmSync(path, { recursive: true });
    }
  });
}

function isPrivate(folder: string, user: number): boolean {
  const { uid, mode } = statSync(folder);
  return uid === user && (mode & OTHERS_MAY_WRITE) === 0 && isSafeParent(dirname(folder), user);
}

/** True if no other user can rename or replace what is in this folder and in its parents. */
function isSafeParent(folder: string, user: number): boolean {
  const { uid, mode } = statSync(folder);
  // In a folder with the sticky bit, such as /tmp, others cannot rename what they do not own.
  const isOpen = (mode & OTHERS_MAY_WRITE) !== 0 && (mode & STICKY) === 0;
  if (isOpen || (uid !== user && uid !== 0)) return false;
  return folder === dirname(folder) || isSafeParent(dirname(folder), user);
}

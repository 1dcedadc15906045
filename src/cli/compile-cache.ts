import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { attempt } from '../engine/attempt.ts';

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/** Returns the user's folder for compiled code; `undefined` if another user may write there. `user` is `undefined` on Windows. */
export function findCacheFolder(env: Readonly<Record<string, string | undefined>>, user: number | undefined) {
  return attempt(() => {
    const folder = join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'signing-gateway');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return user === undefined || isPrivate(realpathSync(folder), user) ? folder : undefined;
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

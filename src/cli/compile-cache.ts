import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Returns the folder for compiled code in the cache folder of the user. Returns `undefined` if another user may write there or
 * replace it, because the process runs the code in it.
 */
export function findCacheFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    const folder = join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'signing-gateway');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return isPrivate(realpathSync(folder)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

function isPrivate(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  const own = process.getuid?.();
  // Windows has no such modes. The folder of a user is private there.
  if (own === undefined) return true;
  if (uid !== own) return false;
  const isSafe = (path: string): boolean => {
    const { uid: owner, mode: parentMode } = statSync(path);
    // In a folder with the sticky bit, such as /tmp, others cannot rename what they do not own.
    const isOpen = (parentMode & OTHERS_MAY_WRITE) !== 0 && (parentMode & STICKY) === 0;
    return (owner === own || owner === 0) && !isOpen && (path === dirname(path) || isSafe(dirname(path)));
  };
  return (mode & OTHERS_MAY_WRITE) === 0 && isSafe(dirname(folder));
}

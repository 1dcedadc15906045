import { once } from 'node:events';
import { chmodSync, linkSync, lstatSync, mkdtempSync, rmSync, type Stats, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import type { SocketFile } from '../../settings/address.ts';

/**
 * Lets a server listen on a unix socket. The socket gets its permissions in a folder that only this user may search, and its name
 * afterwards, so at no moment others can connect to it. A socket on which nobody listens is replaced, and no other file.
 *
 * Returns a function that removes the file, unless it is another one by then. Rejects with `EADDRINUSE` if a process listens there,
 * with `EEXIST` if a file is no socket, or with another error of `net` or `fs`.
 */
export async function listenOnSocket(server: Server, { path, mode }: SocketFile): Promise<() => void> {
  await removeStale(path);
  const folder = mkdtempSync(join(dirname(path), `.${basename(path)}-`));
  try {
    const unnamed = join(folder, 's');
    server.listen(unnamed);
    await once(server, 'listening');
    chmodSync(unnamed, mode);
    const own = lstatSync(unnamed);
    // Renaming it would replace a file that has appeared meanwhile.
    linkSync(unnamed, path);
    return () => removeSame(path, own);
  } catch (error) {
    server.close();
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Removes a socket that a process has left behind. */
async function removeStale(path: string): Promise<void> {
  const found = statOf(path);
  if (found === undefined) return;
  if (!found.isSocket()) throw listenError('EEXIST', path);
  const client = connect(path);
  try {
    await once(client, 'connect');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return removeSame(path, found);
    // A process that is busy has a full queue.
    if (code !== 'EAGAIN') throw error;
  } finally {
    client.destroy();
  }
  throw listenError('EADDRINUSE', path);
}

function listenError(code: string, path: string): Error {
  return Object.assign(new Error(`listen ${code}: ${path}`), { code });
}

function removeSame(path: string, { dev, ino }: Stats): void {
  const found = statOf(path);
  if (found?.dev === dev && found.ino === ino) unlinkSync(path);
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

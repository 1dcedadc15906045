import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { createFileEnvironment, readText } from '../../manifest/file-environment.ts';
import type { Environment, Source } from '../../manifest/source.ts';
import { unreadableFileError } from '../manifest-file.ts';
import { CommandError } from '../terminal.ts';

/** A manifest by the name that `diff` was given, and the world that it sees. */
export interface ManifestRevision {
  readonly source: Source;
  readonly environment: Environment;
}

/**
 * Reads a manifest that is a file, or that is kept by git: `main:gateway.yaml`, as `git show` takes it. Files that such a one
 * names are read at the same revision. Throws a `WorkError` when it cannot be read.
 */
export function readRevision(name: string, env: Environment['env']): ManifestRevision {
  const [, revision = '', path = ''] = /^([^:]+):(.+)$/.exec(name) ?? [];
  if (existsSync(name) || revision === '')
    return { source: readFile(name), environment: createFileEnvironment(name, env) };
  const text = readBlob(name);
  const folder = posix.dirname(path);
  // `git` takes a path from the folder it runs in only with a dot before it.
  const start = path.startsWith('.') ? './' : '';
  const readFileThere = (file: string) =>
    posix.isAbsolute(file) ? readText(file) : readBlob(`${revision}:${start}${posix.join(folder, file)}`);
  const listFolder = (inside: string) => {
    const path = posix.join(folder, inside);
    const tree = `${revision}:${path === '.' ? start : start + path}`;
    return git('ls-tree', '--full-tree', '-z', '--name-only', tree).split('\0').filter(Boolean);
  };
  return { source: { path: name, text }, environment: { env, readFile: readFileThere, listFolder } };
}

function readFile(path: string): Source {
  try {
    return { path, text: readText(path) };
  } catch (error) {
    throw unreadableFileError(path, error, 'name a manifest, or one at a git revision as in main:gateway.yaml');
  }
}

/** Bytes as they were committed: no filter, pager or driver of the user's has a part in it. */
function readBlob(name: string): string {
  return git('cat-file', 'blob', name);
}

function git(...args: readonly string[]): string {
  const name = args.at(-1) ?? '';
  if (name.startsWith('-')) throw new CommandError(`${name}: no git revision begins with a hyphen`);
  try {
    return execFileSync('git', [...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: MAX_BYTES,
    });
  } catch (error) {
    throw new CommandError(`${name}: ${reasonOf(error)}; name a file, or REVISION:PATH as in main:gateway.yaml`);
  }
}

const MAX_BYTES = 64 * 1024 * 1024;

function reasonOf(error: unknown): string {
  const { code, stderr } = error as { code?: unknown; stderr?: unknown };
  if (code === 'ENOENT') return 'there is no such file, and git is not installed';
  const [line = ''] = String(stderr ?? '')
    .trim()
    .split('\n');
  const said = line.replace(/^(?:fatal|error): /, '').replace(/\.$/, '');
  return said === ''
    ? 'there is no such file, and git does not have it'
    : `there is no such file, and git says: ${said}`;
}

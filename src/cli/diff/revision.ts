import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { createFileEnvironment, readText } from '../../engine/manifest/file-environment.ts';
import { decodeText, type Environment, type Source } from '../../engine/manifest/source.ts';
import { unreadableFileError } from '../manifest-file.ts';
import { CommandError } from '../terminal.ts';

/** A manifest that an argument of `diff` names, and the environment that it is loaded in. */
interface ManifestRevision {
  readonly source: Source;
  readonly environment: Environment;
}

/**
 * Reads a manifest from a file or from a git revision: `main:gateway.yaml`, the syntax of `git show`. Files that the manifest
 * names are read at the same revision. Throws a `CommandError` if it cannot be read.
 */
export function readRevision(name: string, env: Environment['env']): ManifestRevision {
  const [, revision = '', path = ''] = /^([^:]+):(.+)$/.exec(name) ?? [];
  if (existsSync(name) || revision === '')
    return { source: readFile(name), environment: createFileEnvironment(name, env) };
  const text = readBlob(name);
  const folder = posix.dirname(path);
  // To git, a path is relative to its working folder only if it begins with a dot.
  const start = path.startsWith('.') ? './' : '';
  const readFileAtRevision = (file: string) =>
    posix.isAbsolute(file) ? readText(file) : readBlob(`${revision}:${start}${posix.join(folder, file)}`);
  const listFolder = (relativePath: string) => {
    const path = posix.join(folder, relativePath);
    const tree = `${revision}:${path === '.' ? start : start + path}`;
    return git('ls-tree', '--full-tree', '-z', '--name-only', tree).toString().split('\0').filter(Boolean);
  };
  return { source: { path: name, text }, environment: { env, readFile: readFileAtRevision, listFolder } };
}

function readFile(path: string): Source {
  try {
    return { path, text: readText(path) };
  } catch (error) {
    throw unreadableFileError(path, error, 'name a file, or REVISION:PATH as in main:gateway.yaml');
  }
}

/** Returns the committed text. Unlike `git show`, `cat-file` applies no filter, pager or diff driver of the user. */
function readBlob(name: string): string {
  return decodeText(git('cat-file', 'blob', name));
}

function git(...args: readonly string[]): Buffer {
  const name = args.at(-1) ?? '';
  if (name.startsWith('-'))
    throw new CommandError(`${name}: a git revision cannot begin with a hyphen; name a file, or REVISION:PATH`);
  try {
    return execFileSync('git', [...args], {
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
  if (code === 'ENOENT') return 'no such file, and git is not installed';
  const [line = ''] = String(stderr ?? '')
    .trim()
    .split('\n');
  const reason = line.replace(/^(?:fatal|error): /, '').replace(/\.$/, '');
  return reason === '' ? 'no such file, and git does not have it' : `no such file, and git reports: ${reason}`;
}

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { load } from '../../engine/load.ts';
import { createFileEnvironment, decodeText, type Environment, readText } from '../../engine/manifest/source.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { readOrFail, requirePlan } from '../manifest-file.ts';
import { fileIn } from '../named-manifest.ts';
import { CommandError, type ExitCode, type Terminal } from '../terminal.ts';

/** Loads a manifest from a file or a git revision. Throws as `loadPlanned` does. The schemas of the plan `other` need no check. */
export function loadRevision(name: string, terminal: Terminal, code: ExitCode, other?: Plan) {
  const { source, environment } = readRevision(name, terminal.env);
  return { planned: requirePlan(load(source, environment, other), terminal, code), readFile: environment.readFile };
}

/** Reads a manifest from a file or, with the files that it names, from a git revision: `main:gateway.yaml`. Throws a `CommandError`. */
function readRevision(name: string, env: Environment['env']) {
  const [, revision = '', path = ''] = /^([^:]+):(.+)$/.exec(name) ?? [];
  if (existsSync(name) || revision === '') {
    const file = fileIn(name);
    const text = readOrFail(file, REMEDY, () => readText(file));
    return { source: { path: file, text }, environment: createFileEnvironment(file, env) };
  }
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

const REMEDY = 'name a file, or REVISION:PATH as in main:gateway.yaml';

/** Returns the committed text. Unlike `git show`, `cat-file` applies no filter, pager or diff driver of the user. */
function readBlob(name: string): string {
  return decodeText(git('cat-file', 'blob', name));
}

function git(...args: readonly string[]): Buffer {
  const name = args.at(-1) ?? '';
  if (name.startsWith('-'))
    throw new CommandError(`${name}: a git revision cannot begin with a hyphen; name a file, or REVISION:PATH`);
  try {
    return execFileSync('git', [...args], { stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: MAX_BYTES });
  } catch (error) {
    throw new CommandError(`${name}: ${reasonOf(error)}; ${REMEDY}`);
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

import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { type Pattern, PatternError, parsePattern, patternKey } from './pattern.ts';

/**
 * Compiles the function that rewrites a matched path for the upstream; returns `undefined` if the path stays the same.
 * It replaces complete segments with segments that the path guard accepts, so the guard would accept the result too.
 */
export function compileUpstreamPath(
  entry: RouteEntry,
  path: Path,
  findings: Finding[],
): ((path: string) => string) | undefined {
  const { upstreamPath } = entry;
  if (upstreamPath === undefined) return undefined;
  const from = readPrefix(upstreamPath.replace, [...path, 'upstreamPath', 'replace'], findings);
  const to = readPrefix(upstreamPath.with, [...path, 'upstreamPath', 'with'], findings);
  if (from === undefined || to === undefined) return undefined;
  const literals = literalsOf(entry.path);
  if (literals !== undefined && !beginsWith(literals, from)) {
    const message = `"${upstreamPath.replace}" is not a prefix of "${entry.path}"; write complete segments of it, at most ${patternKey(literals)}`;
    findings.push(errorAt([...path, 'upstreamPath', 'replace'], 'upstream-path', message));
  }
  const cutLength = from.length === 0 ? 0 : upstreamPath.replace.length;
  const prefix = to.length === 0 ? '' : upstreamPath.with;
  return (requestPath) => prefix + requestPath.slice(cutLength) || '/';
}

function readPrefix(text: string, path: Path, findings: Finding[]): Pattern | undefined {
  try {
    const pattern = parsePattern(text);
    if (pattern.every(({ kind }) => kind === 'literal')) return pattern;
    throw new PatternError('a prefix is literal: it has no {name} and no **; write the segments before them');
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    findings.push(errorAt(path, 'upstream-path', error.message));
    return undefined;
  }
}

/** Returns the leading literal segments of a route's path; `undefined` if the path is invalid, which is reported elsewhere. */
function literalsOf(path: string): Pattern | undefined {
  try {
    const pattern = parsePattern(path);
    const end = pattern.findIndex(({ kind }) => kind !== 'literal');
    return end === -1 ? pattern : pattern.slice(0, end);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return undefined;
  }
}

function beginsWith(pattern: Pattern, prefix: Pattern): boolean {
  return patternKey(pattern.slice(0, prefix.length)) === patternKey(prefix);
}

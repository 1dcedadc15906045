import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';
import { type Pattern, PatternError, parsePattern, patternKey } from './pattern.ts';

/**
 * Makes what turns a path that the route has matched into the one that its upstream is asked for; `undefined` when
 * that is the same. Whole segments go and come, and only such as the path guard lets through: it would let the
 * result through too.
 */
export function compileUpstreamPath(
  entry: RouteEntry,
  path: Path,
  findings: Finding[],
): ((path: string) => string) | undefined {
  const { upstreamPath } = entry;
  if (upstreamPath === undefined) return undefined;
  const replaced = readPrefix(upstreamPath.replace, [...path, 'upstreamPath', 'replace'], findings);
  const put = readPrefix(upstreamPath.with, [...path, 'upstreamPath', 'with'], findings);
  if (replaced === undefined || put === undefined) return undefined;
  const literals = literalsOf(entry.path);
  if (literals !== undefined && !beginsWith(literals, replaced)) {
    const message = `"${upstreamPath.replace}" is not how "${entry.path}" begins; write whole segments of it, at most ${patternKey(literals)}`;
    findings.push(errorAt([...path, 'upstreamPath', 'replace'], 'upstream-path', message));
  }
  const cut = replaced.length === 0 ? 0 : upstreamPath.replace.length;
  const prefix = put.length === 0 ? '' : upstreamPath.with;
  return (sent) => prefix + sent.slice(cut) || '/';
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

/** The literal segments that a route's path begins with; `undefined` when the path is faulty, which is told elsewhere. */
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

import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { type Pattern, patternKey, readPattern } from './pattern.ts';

/** Compiles the rewrite of a matched path for the upstream, by complete segments that the path guard accepts; `undefined` if invalid. */
export function compileUpstreamPath(
  { replace, with: replacement }: NonNullable<RouteEntry['upstreamPath']>,
  routePath: string,
  path: Path,
  findings: Finding[],
): ((path: string) => string) | undefined {
  const from = readPrefix(replace, [...path, 'replace'], findings);
  const to = readPrefix(replacement, [...path, 'with'], findings);
  if (from === undefined || to === undefined) return undefined;
  const literals = literalsOf(routePath);
  if (literals !== undefined && !beginsWith(literals, from)) {
    const message = `"${replace}" is not a prefix of "${routePath}"; write complete segments of it, at most ${patternKey(literals)}`;
    findings.push(errorAt([...path, 'replace'], 'upstream-path', message));
  }
  const cutLength = from.length === 0 ? 0 : replace.length;
  const prefix = to.length === 0 ? '' : replacement;
  return (requestPath) => prefix + requestPath.slice(cutLength) || '/';
}

function readPrefix(text: string, path: Path, findings: Finding[]): Pattern | undefined {
  const report = (message: string) => findings.push(errorAt(path, 'upstream-path', message));
  const pattern = readPattern(text, report);
  if (pattern === undefined || pattern.every(({ kind }) => kind === 'literal')) return pattern;
  report('a prefix is literal: it has no {name} and no **; write the segments before them');
  return undefined;
}

/** Returns the leading literal segments of a route's path; `undefined` if the path is invalid, which is reported elsewhere. */
function literalsOf(path: string): Pattern | undefined {
  const pattern = readPattern(path);
  const end = pattern?.findIndex(({ kind }) => kind !== 'literal');
  return end === -1 ? pattern : pattern?.slice(0, end);
}

function beginsWith(pattern: Pattern, prefix: Pattern): boolean {
  return patternKey(pattern.slice(0, prefix.length)) === patternKey(prefix);
}

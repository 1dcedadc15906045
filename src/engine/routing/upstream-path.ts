import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import { type Pattern, patternKey, readPattern } from './pattern.ts';

/** Backslashes, tabs, empty segments at the start and dot segments, which clients read as another path or host. */
const OTHER_READING = /[\\\t]|^\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Compiles the mapping of paths between clients and the upstream, by complete segments that the path guard accepts; `undefined` if invalid. */
export function compileUpstreamPath(
  { replace, with: replacement, rewriteResponses }: NonNullable<RouteEntry['upstreamPath']>,
  routePath: string,
  path: Path,
  findings: Finding[],
) {
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
  const cut = replace.slice(0, cutLength);
  // The path of the upstream's root for clients, for `X-Forwarded-Prefix`; `undefined` if no prefix leads from one to the other.
  const forwardedPrefix = cut.endsWith(prefix) ? cut.slice(0, cutLength - prefix.length) || undefined : undefined;
  // The path for clients of one that the upstream names, with query and fragment; `undefined` if it has none.
  const publicPath = (text: string) => {
    const named = text.replace(/[?#].*$/s, '');
    // The application may know the prefix from X-Forwarded-Prefix.
    const isPublic = forwardedPrefix !== undefined && isBelow(named, cut);
    // Without its prefix, a path such as /api//example would name a host.
    if (isPublic || !isBelow(named, prefix) || OTHER_READING.test(named.slice(prefix.length))) return undefined;
    const path = cut + text.slice(prefix.length);
    return path.startsWith('/') ? path : `/${path}`;
  };
  return {
    upstreamPath: (requestPath: string) => prefix + requestPath.slice(cutLength) || '/',
    forwardedPrefix,
    publicPath: rewriteResponses ? publicPath : undefined,
  };
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
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

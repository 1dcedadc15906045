import type { Route } from '../plan/route-definition.ts';
import { foldLiteral, readPath, respell } from '../routing/path-folding.ts';
import type { Pattern } from '../routing/pattern.ts';

/** A segment of a path as a client sends it. */
export interface SentSegment {
  /** The texts as which servers read it, several if it has encoded slashes. `undefined` stands for any text. */
  readonly texts: readonly (string | undefined)[];
  /** True if some servers read it as empty, and merge the slashes around it. */
  readonly isDropped?: boolean;
  /** True if the path ends after it for servers that decode it before they split off the query. */
  readonly isEnd?: boolean;
}

interface ReadPatterns {
  /** The pattern of a route, which matches the path as sent. */
  readonly sent: Pattern;
  /** A folded pattern, which matches the path as some server reads it. */
  readonly read: Pattern;
  readonly keepsEncodedSlash: boolean;
  /** The most segments that a path may have. */
  readonly maxLength: number;
  /** True for a path to yield. It reads only the number of segments and `textsAsRead`. */
  readonly isAccepted: (segments: readonly SentSegment[]) => boolean;
}

type Respelling = ReadPatterns & {
  /** The keys of positions from which no path is accepted. Very many spellings are read alike. */
  readonly deadEnds: Set<string>;
  /** The accepted paths so far. */
  found: number;
};

const DROPPED: SentSegment = { texts: ['...'], isDropped: true };
const ANY: SentSegment = { texts: [undefined] };
/** The most segments that differ from a plain spelling. */
const MAX_CHANGES = 4;

/** Yields paths that match one pattern as sent and the other one as read, those with the fewest changes first. */
export function* respelledPaths(patterns: ReadPatterns): Generator<readonly SentSegment[]> {
  const respelling = { ...patterns, deadEnds: new Set<string>(), found: 0 };
  for (let changes = 0; changes <= MAX_CHANGES; changes += 1)
    yield* align(respelling, { segments: [], sentAt: 0, readAt: 0, changes });
}

/** Returns the folded texts as which servers read a path that read encoded slashes, drop segments, and end the path early. */
export function textsAsRead(segments: readonly SentSegment[]): (string | undefined)[] {
  const end = segments.findIndex(({ isEnd }) => isEnd === true);
  return segments
    .slice(0, end === -1 ? segments.length : end + 1)
    .filter(({ isDropped }) => isDropped !== true)
    .flatMap(({ texts }) => texts)
    .filter((text) => text !== '')
    .map((text) => (text === undefined ? undefined : foldLiteral({ kind: 'literal', text }).text));
}

/** Returns the text of a path. @param unknown stands for any text */
export function writePath(segments: readonly SentSegment[], unknown: string): string {
  const texts = segments.map(({ texts, isEnd }) => {
    const text = texts.map((one) => one ?? unknown).join('%2F');
    return isEnd === true ? `${text}%3Fx` : text;
  });
  return `/${texts.join('/')}`;
}

interface Progress {
  readonly segments: readonly SentSegment[];
  /** The positions in both patterns. */
  readonly sentAt: number;
  readonly readAt: number;
  /** The number of changes that are left. All of them are made. */
  readonly changes: number;
}

function* align(respelling: Respelling, progress: Progress): Generator<readonly SentSegment[]> {
  const { segments, sentAt, readAt, changes } = progress;
  const key = [sentAt, readAt, changes, segments.length, ...textsAsRead(segments)].join('/');
  if (respelling.deadEnds.has(key)) return;
  const { found } = respelling;
  yield* alignNext(respelling, progress);
  if (respelling.found === found) respelling.deadEnds.add(key);
}

function* offer(respelling: Respelling, path: readonly SentSegment[]): Generator<readonly SentSegment[]> {
  if (!respelling.isAccepted(path)) return;
  respelling.found += 1;
  yield path;
}

function* alignNext(respelling: Respelling, progress: Progress): Generator<readonly SentSegment[]> {
  const { sent, read, maxLength } = respelling;
  const { segments, sentAt, readAt, changes } = progress;
  const segment = sent[sentAt];
  const isAtEnd = segment === undefined || segment.kind === 'rest';
  if (isAtEnd && changes === 0 && isReadToEnd(read, readAt)) yield* offer(respelling, segments);
  if (segment === undefined || segments.length >= maxLength) return;
  if (segment.kind === 'literal') {
    const next = stepOver(read, readAt, foldLiteral(segment).text);
    if (next === undefined) return;
    const after = [...segments, { texts: [segment.text] }];
    yield* align(respelling, { ...progress, segments: after, sentAt: sentAt + 1, readAt: next });
    return;
  }
  const nextSent = segment.kind === 'rest' ? sentAt : sentAt + 1;
  const one = read[readAt];
  if (one !== undefined) {
    const text = one.kind === 'literal' ? respell(one).text : undefined;
    const next = one.kind === 'rest' ? readAt : readAt + 1;
    yield* align(respelling, {
      ...progress,
      segments: [...segments, { texts: [text] }],
      sentAt: nextSent,
      readAt: next,
    });
  }
  if (changes > 0) yield* alignChanged(respelling, { ...progress, changes: changes - 1, sentAt: nextSent });
}

/** Yields the paths whose next segment is dropped, ends the path, or is read as several segments. */
function* alignChanged(respelling: Respelling, progress: Progress): Generator<readonly SentSegment[]> {
  const { read, keepsEncodedSlash } = respelling;
  const { segments, readAt, changes } = progress;
  yield* align(respelling, { ...progress, segments: [...segments, DROPPED] });
  for (const { texts, next } of readTexts(read, readAt, keepsEncodedSlash)) {
    if (changes === 0 && isReadToEnd(read, next))
      for (const path of withRest([...segments, { texts, isEnd: true }], respelling, progress.sentAt))
        yield* offer(respelling, path);
    if (texts.length > 1) yield* align(respelling, { ...progress, segments: [...segments, { texts }], readAt: next });
  }
}

interface ReadTexts {
  readonly texts: readonly (string | undefined)[];
  /** The position in the pattern after them. */
  readonly next: number;
}

/** Yields the texts as which servers can read a segment: none, one, or several with encoded slashes. */
function* readTexts(read: Pattern, at: number, hasSlashes: boolean): Generator<ReadTexts> {
  yield { texts: [''], next: at };
  const texts: (string | undefined)[] = [];
  const most = hasSlashes ? read.length - at + 1 : 1;
  for (let next = at; texts.length < most; ) {
    const segment = read[next];
    if (segment === undefined) return;
    texts.push(segment.kind === 'literal' ? segment.text : undefined);
    if (segment.kind !== 'rest') next += 1;
    yield { texts: [...texts], next };
  }
}

/** Yields a path with segments that servers do not read: they only have to match the route. */
function* withRest(segments: readonly SentSegment[], { sent, maxLength }: ReadPatterns, at: number) {
  const others = sent.slice(at);
  const fixed = others.filter(({ kind }) => kind !== 'rest');
  const path = [...segments, ...fixed.map((one) => (one.kind === 'literal' ? { texts: [one.text] } : ANY))];
  yield path;
  if (fixed.length === others.length) return;
  for (let length = path.length + 1; length <= maxLength; length += 1)
    yield [...path, ...Array.from({ length: length - path.length }, () => ANY)];
}

function isReadToEnd(read: Pattern, at: number): boolean {
  return at === read.length || (at === read.length - 1 && read[at]?.kind === 'rest');
}

/** Returns the position after a text, or `undefined` if the pattern does not match it there. */
function stepOver(read: Pattern, at: number, text: string): number | undefined {
  const segment = read[at];
  if (segment === undefined || (segment.kind === 'literal' && segment.text !== text)) return undefined;
  return segment.kind === 'rest' ? at : at + 1;
}

/**
 * Returns the paths as which servers read a path, each folded. Servers that normalize Unicode before they split segments do not count:
 * to them, each path with a parameter could be any other path.
 */
function readingsOf(path: string, { keepsEncodedSlash }: Pick<Route, 'keepsEncodedSlash'>): string[] {
  const decoded = keepsEncodedSlash ? path.replaceAll(/%2f/gi, '/') : path;
  return [...new Set([path, decoded])].flatMap((one) => readPath(one)?.written ?? []);
}

/** True if a path matches one of the patterns, as sent or as some server reads it. */
export function isReadAs(path: string, patterns: readonly Pattern[], route: Pick<Route, 'keepsEncodedSlash'>): boolean {
  if (patterns.some((pattern) => matches(pattern, path))) return true;
  const readings = readingsOf(path, route);
  return patterns.some((pattern) => {
    const folded = pattern.map(foldLiteral);
    return readings.some((reading) => matches(folded, reading));
  });
}

/** True if a path matches a pattern, as in the router: one trailing slash is ignored. */
function matches(pattern: Pattern, path: string): boolean {
  const texts = path.split('/').slice(1);
  if (texts.at(-1) === '') texts.pop();
  if (pattern.at(-1)?.kind === 'rest' ? texts.length < pattern.length - 1 : texts.length !== pattern.length)
    return false;
  return pattern.every(
    (segment, index) =>
      segment.kind === 'rest' || (segment.kind === 'literal' ? segment.text === texts[index] : texts[index] !== ''),
  );
}

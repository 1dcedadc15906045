/** The headers that determine the framing, the routing and the response of a message. The values of a repeated one are joined by commas. */
class FoundHeaders {
  host: string | undefined = undefined;
  authorization: string | undefined = undefined;
  contentType: string | undefined = undefined;
  contentLength: string | undefined = undefined;
  transferEncoding: string | undefined = undefined;
  connection: string | undefined = undefined;
  keepAlive: string | undefined = undefined;
  expect: string | undefined = undefined;
  maxForwards: string | undefined = undefined;
  origin: string | undefined = undefined;
  traceparent: string | undefined = undefined;
  upgrade: string | undefined = undefined;
  via: string | undefined = undefined;
  /** True if one of the first five is repeated: servers disagree on which of them they use. */
  isAmbiguous = false;
}

export type KnownHeaders = Readonly<FoundHeaders>;

/** The headers of a message, as received, and the known ones. */
export interface HeaderFields {
  readonly headers: string[];
  readonly known: KnownHeaders;
}

type Member = Exclude<keyof FoundHeaders, 'isAmbiguous'>;

const MEMBERS = new Map<string, Member>([
  ['host', 'host'],
  ['authorization', 'authorization'],
  ['content-type', 'contentType'],
  ['content-length', 'contentLength'],
  ['transfer-encoding', 'transferEncoding'],
  ['connection', 'connection'],
  ['keep-alive', 'keepAlive'],
  ['expect', 'expect'],
  ['max-forwards', 'maxForwards'],
  ['origin', 'origin'],
  ['traceparent', 'traceparent'],
  ['upgrade', 'upgrade'],
  ['via', 'via'],
]);
const SINGLE: ReadonlySet<string> = new Set([
  'host',
  'authorization',
  'contentType',
  'contentLength',
  'transferEncoding',
]);

/** The name of a header as received, and the member that has its value. */
interface HeaderName {
  readonly rawName: string;
  readonly member: Member | undefined;
}

const SLOTS = 1_024;
/** The names in use, by their length and two of their characters. Invented names replace others, which costs little. */
const names = Array.from({ length: SLOTS }, (): HeaderName => ({ rawName: '', member: undefined }));
/** Longer names are not kept. */
const MAX_KEPT_LENGTH = 64;
const SPACE = 0x20;

/** Splits valid field lines into names and values, and finds the known headers. */
export function parseFields(text: string, start: number): HeaderFields {
  const headers: string[] = [];
  const known = new FoundHeaders();
  for (let at = start; at < text.length; ) {
    const colon = text.indexOf(':', at);
    const end = text.indexOf('\r', colon);
    let first = colon + 1;
    let last = end;
    // Space and tab are the only characters of a valid line that are not above a space.
    while (first < last && text.charCodeAt(first) <= SPACE) first += 1;
    while (first < last && text.charCodeAt(last - 1) <= SPACE) last -= 1;
    const { rawName, member } = nameOf(text.slice(at, colon));
    const value = text.slice(first, last);
    headers.push(rawName, value);
    if (member !== undefined) {
      const previous = known[member];
      known[member] = previous === undefined ? value : `${previous}, ${value}`;
      if (previous !== undefined && SINGLE.has(member)) known.isAmbiguous = true;
    }
    at = end + 2;
  }
  return { headers, known };
}

/** Returns the kept name. To change the letter case of each name, or to look it up in a `Map`, would take four times as long. */
function nameOf(rawName: string): HeaderName {
  const { length } = rawName;
  const slot = (length * 37 + rawName.charCodeAt(0) * 5 + rawName.charCodeAt(length - 1)) % SLOTS;
  const kept = names[slot] as HeaderName;
  if (kept.rawName === rawName) return kept;
  // A copy, because a slice would keep the complete head in memory, with its token.
  const copy = Buffer.from(rawName, 'latin1').toString('latin1');
  const name = { rawName: copy, member: MEMBERS.get(rawName.toLowerCase()) };
  if (length <= MAX_KEPT_LENGTH) names[slot] = name;
  return name;
}

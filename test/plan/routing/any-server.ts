/** A server that reads paths in one way: all segments alike, or only those at even positions. */
export interface AnyServer {
  readonly name: string;
  /** Returns the segments of a path. */
  readonly read: (path: string) => readonly string[];
  /** Returns the literal of a route as the server compares it: no server splits the text of its own routes. */
  readonly readLiteral: (text: string) => string;
}

const withoutPlainParameters = (text: string) => text.replace(/;.*/, '');
const decode = (text: string) => text.split(/%2f/i).map(decodeURIComponent).join('%2F');
const trim = (text: string) => text.trim().replace(/[.\s]+$/, '');
const lowerCase = (text: string) => text.toLowerCase();
const normalize = (text: string) => text.normalize('NFKC');

/** The steps in which a server changes a segment, in their order. Literals of routes have neither a `;` nor a `?`. */
const STEPS = { withoutPlainParameters, decode, withoutParameters: withoutPlainParameters, normalize, trim, lowerCase };

/** Returns the servers of all combinations of steps. */
export function allServers(): AnyServer[] {
  const names = Object.keys(STEPS) as (keyof typeof STEPS)[];
  return subsets([...names, 'slashes', 'query', 'empty', 'alternating'] as const).map((used) => {
    const has = (name: (typeof used)[number]) => used.includes(name);
    const steps = names.filter(has).map((name) => STEPS[name]);
    const readText = (text: string) => steps.reduce((before, step) => step(before), text);
    // A server compares letter case everywhere or nowhere, and so with texts outside of ASCII, as its literals have them.
    const forAll = (['decode', 'normalize', 'lowerCase'] as const).filter(has).map((name) => STEPS[name]);
    const readLess = (text: string) =>
      text.replaceAll(/(?:%[89a-f].)+|[^%]+|%/gi, (part) =>
        part === '%' ? part : forAll.reduce((before, step) => step(before), part),
      );
    return {
      name: used.join(' '),
      readLiteral: readText,
      read: (path) => {
        const whole = has('query') ? path.replace(/%(?:3f|23).*/i, '') : path;
        const slashed = has('slashes') ? whole.replaceAll(/%2f/gi, '/') : whole;
        const segments = slashed.split('/').slice(1);
        const texts = segments.map((text, at) => (has('alternating') && at % 2 === 1 ? readLess : readText)(text));
        return has('empty')
          ? texts.filter((text) => text !== '')
          : texts.slice(0, texts.at(-1) === '' ? -1 : undefined);
      },
    };
  });
}

function subsets<Name extends string>(names: readonly Name[]): (readonly Name[])[] {
  return names.reduce<(readonly Name[])[]>((sets, name) => sets.flatMap((set) => [set, [...set, name]]), [[]]);
}

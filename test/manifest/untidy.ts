/** YAML with more white space, comments and styles than anyone would use; another for each seed. */
export function untidy(seed: number): string {
  const random = randomBy(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const pick = <T>(from: readonly T[]): T => from[upTo(from.length - 1)] as T;
  const pad = (least: number, more: number) => ' '.repeat(least + upTo(more));
  const few = (make: () => string, least = 1) => Array.from({ length: least + upTo(2) }, make);
  const keys = () => [...new Set(few(() => pick(['a', 'b', '"c d"', "'#e'", 'long-name', '"{"', '&k k'])))];
  const scalar = () =>
    pick(['x', '7', 'null', '"a  b"', "'it''s: # no comment'", '"\\\\ "', '"é😀"', '""', '&x   y', '-1']);

  /** Lines between two others. */
  const between = () => pick(['', '', '\n', '  \n\n\n', '# c\n', `${pad(0, 6)}# c   \n`, '\n#c\n\n']);
  /** The end of a line. */
  const tail = () => `${pick(['', '', '   ', ' # c', '   #  c  '])}\n`;
  /** The start of a line further in than this column. */
  const further = (indent: number) => `\n${pad(indent + 1, 5)}`;

  function flow(gap: () => string, depth: number): string {
    const item = () => (depth > 1 || random() < 0.5 ? scalar() : flow(gap, depth + 1));
    const entries = () => keys().map((key) => `${key}${pad(0, 2)} : ${gap()}${item()}`);
    const [open, close, items] = random() < 0.5 ? ['[', ']', few(item, 0)] : ['{', '}', entries()];
    return `${open}${gap()}${items.join(`${gap()},${gap()}`)}${gap()}${close}`;
  }

  function quoted(indent: number): string {
    if (random() < 0.3) return `"one \\ ${further(indent)}two  \\${further(indent)}three"`;
    const quote = pick(['', '"', "'"]);
    return `${quote}one${pad(0, 2)}${further(indent)}two\n${pick(['', '  \n'])}${pad(indent + 1, 5)}three${quote}`;
  }

  function blockScalar(indent: number): string {
    const digit = random() < 0.4 ? 1 + upTo(3) : 0;
    const inner = digit > 0 ? ' '.repeat(indent + digit) : pad(indent + 1, 3);
    const lines = [`${inner}${digit > 0 ? ' ' : ''}one  `, '', `${inner}  two`, `${inner}# no comment`];
    const header = `${pick(['|', '>'])}${digit || ''}${pick(['', '-', '+'])}${pick(['', '  # c'])}`;
    return `${header}\n${pick(['', '\n'])}${lines.join('\n')}\n${pick(['', '\n\n'])}`;
  }

  /** Writes the value after `key:` or `-` in this column; a list may begin at `listAt`. */
  function value(indent: number, listAt: number, depth: number): string {
    const gap = () => (random() < 0.2 ? `${pick(['', ' # c'])}${further(indent)}` : pad(0, 2));
    const kind = upTo(depth > 3 ? 3 : 7);
    if (kind === 0) return `${pad(1, 3)}${scalar()}${tail()}`;
    if (kind === 1) return `${pad(1, 3)}${flow(gap, 0)}${tail()}`;
    if (kind === 2) return `${pad(1, 3)}${quoted(indent)}${tail()}`;
    if (kind === 3) return ` ${blockScalar(indent)}`;
    const block = random() < 0.6 ? map(indent + 1 + upTo(3), depth + 1) : list(listAt + upTo(3), depth + 1);
    return `${tail()}${block}`;
  }

  function map(column: number, depth: number): string {
    const entries = keys().map((key) => `${key}${pad(0, 1)} :${value(column, column, depth)}`);
    return entries.map((entry) => `${between()}${' '.repeat(column)}${entry}`).join('');
  }

  function list(column: number, depth: number): string {
    const item = () => {
      const start = `${' '.repeat(column)}-${pad(1, 3)}`;
      // The first line of a map or list may stand behind the dash, and its other lines below that.
      const isNested = depth < 4 && random() < 0.6;
      const inner = isNested && (random() < 0.5 ? map : list)(start.length, depth + 1);
      return inner && inner.search(/[^ ]/) === start.length && inner[start.length] !== '#'
        ? `${between()}${start}${inner.slice(start.length)}`
        : `${between()}${' '.repeat(column)}-${value(column, column + 1, depth)}`;
    };
    return few(item).join('');
  }

  const start = pick(['', '\n\n', '# first\n', '\uFEFF\n', '---\n']);
  const root = (random() < 0.8 ? map : list)(upTo(2), 0);
  return start + root + pick(['', '\n\n', '# last', '     # last\n']);
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

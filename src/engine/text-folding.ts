/** The strengths of folding, each including the ones before it. `docs/rate-limits.md` has a table of them. */
export const FOLDS = { case: (text: string) => foldCase(text).trim(), text: foldText, accents: foldAccents } as const;

/** Controls and characters that Unicode does not assign: collations and parsers ignore them, end a text there, or refuse it. */
export const HIDDEN = /[\p{Cc}\p{Cn}]/u;

/**
 * Returns the names as which servers read a name, each folded: without hidden characters, without `_` and `-`, because many read
 * `first_name` and `firstName` as one, and for servers written in C up to its NUL.
 */
export function readName(name: string): readonly string[] {
  const forms = name.includes('\0') ? [name, name.slice(0, name.indexOf('\0'))] : [name];
  return forms.map((form) => foldAccents(form.replaceAll(/[\p{Cc}\p{Cn}]/gu, '')).replaceAll(/[_-]/g, ''));
}

/**
 * Also removes characters that cannot be seen, and replaces the digits of other scripts and the ideographic full stop, which domain
 * names may have for a dot. Idempotent, and equal for all normalization forms of a text.
 */
function foldText(text: string): string {
  const visible = foldVisible(text).trim();
  return ASCII.test(visible) ? visible : visible.replaceAll(/\p{Nd}/gu, collatedOf).replaceAll('\u3002', '.');
}

const ASCII = /^[ -~]*$/;
/** Soft hyphens, zero-width characters, direction marks, variation selectors, tags. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/** Folds the same as `foldCase`, and removes characters that cannot be seen. */
export function foldVisible(text: string): string {
  return foldCase(visibleText(text));
}

/** Removes characters that cannot be seen, and replaces compatibility forms (Unicode NFKC). */
export function visibleText(text: string): string {
  if (ASCII.test(text)) return text;
  return text.replaceAll(INVISIBLE, '').normalize('NFKC').replaceAll(INVISIBLE, '');
}

/** Folds letter case and compatibility forms (Unicode NFKC). */
function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  // The second change is for letters such as the capital sharp s, whose small form has another capital form.
  const folded = changeCase(changeCase(text.normalize('NFKC'))).normalize('NFKC');
  return folded.replaceAll('i\u0307', 'i');
}

/** Uppercase first: many servers read the long s and the dotless i as ASCII letters, and in Turkish locales the dotted capital I too. */
function changeCase(text: string): string {
  return text.toUpperCase().replaceAll('\u0130', 'I').toLowerCase();
}

/** Marks, and the two letters that only lengthen the line between others. */
const MARKS = /[\p{M}\u0640\u07fa]/gu;

/** Also removes accents and strokes, and replaces numeric signs and katakana, as collations without accents compare texts. */
function foldAccents(text: string): string {
  const folded = foldText(text);
  if (ASCII.test(folded)) return folded;
  // An l with a middle dot is one letter, which compares as an l.
  const plain = folded.normalize('NFKD').replaceAll('l\u00b7', 'l').replaceAll(COLLATED, collatedOf);
  return foldText(plain.replaceAll(MARKS, ''));
}

/** The characters that the root collation of Unicode may compare as equal to others at the base level. */
const COLLATED = /[\p{N}\p{M}\p{So}\p{Script=Latin}\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const ALPHANUMERICS = [...'0123456789abcdefghijklmnopqrstuvwxyz'];
const KANA = [...'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわゐゑをん'];
/** The texts that such a character can equal, in the order of the collation. */
const BASES = [...ALPHANUMERICS.flatMap((first) => [first, ...ALPHANUMERICS.map((second) => first + second)]), ...KANA];
const baseOf = new Map<string, string>();
/** Created at the first use: that takes milliseconds. */
let collator: Intl.Collator | undefined;

/** Returns the text of `BASES` that a character equals, or else the character. */
function collatedOf(character: string): string {
  const known = baseOf.get(character);
  if (known !== undefined) return known;
  collator ??= new Intl.Collator('und', { sensitivity: 'base' });
  let start = 0;
  for (let end = BASES.length - 1; start < end; ) {
    const middle = (start + end) >> 1;
    if (collator.compare(character, BASES[middle] as string) > 0) start = middle + 1;
    else end = middle;
  }
  const base = BASES[start] as string;
  baseOf.set(character, collator.compare(character, base) === 0 ? base : character);
  return baseOf.get(character) as string;
}

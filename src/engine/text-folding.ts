/** The strengths of folding, each including the ones before it. `docs/rate-limits.md` has a table of them. */
export const FOLDS = { case: foldCase, text: foldText, accents: foldAccents } as const;

/** Controls and characters that Unicode does not assign: collations and parsers ignore them, end a text there, or refuse it. */
export const HIDDEN = /[\p{Cc}\p{Cn}]/u;

/** Returns the names as which servers read a name, each folded: without hidden characters, and for servers written in C up to its NUL. */
export function readName(name: string): readonly string[] {
  const forms = name.includes('\0') ? [name, name.slice(0, name.indexOf('\0'))] : [name];
  return forms.map((form) => foldAccents(form.replaceAll(/[\p{Cc}\p{Cn}]/gu, '')));
}

/** Folds letter case, compatibility forms (Unicode NFKC), and whitespace at the ends. */
function foldCase(text: string): string {
  return foldLetters(text).trim();
}

/** Also removes characters that cannot be seen. Idempotent, and equal for all normalization forms of a text. */
function foldText(text: string): string {
  return foldVisible(text).trim();
}

const ASCII = /^[ -~]*$/;
/** Soft hyphens, zero-width characters, direction marks, variation selectors, tags. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;

/** Does the same as `foldText`, and leaves the ends as they are. */
export function foldVisible(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return foldLetters(text.replaceAll(INVISIBLE, '').normalize('NFKC').replaceAll(INVISIBLE, ''));
}

function foldLetters(text: string): string {
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
/** The letters that collations without accents compare as equal to others, and that no normalization decomposes. */
const STROKES: Readonly<Record<string, string>> = { æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', ħ: 'h' };

/** Also removes accents and strokes, and replaces the digits of other scripts, as collations without accents compare texts. */
function foldAccents(text: string): string {
  const folded = foldText(text);
  if (ASCII.test(folded)) return folded;
  const bare = folded.normalize('NFKD').replaceAll(MARKS, '');
  return foldText(bare.replaceAll(/[æœøłđðħ]/g, (letter) => STROKES[letter] ?? letter).replaceAll(/\p{Nd}/gu, digitOf));
}

/** Returns the ASCII digit. Unicode assigns the ten digits of a script without a gap, in ascending order (section 4.6). */
function digitOf(character: string): string {
  const code = character.codePointAt(0) as number;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
  return String((code - zero) % 10);
}

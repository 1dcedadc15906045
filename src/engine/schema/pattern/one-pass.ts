import { attempt } from '../../attempt.ts';

/** A character, an escape or a class of ECMA-262 with the flag `u`. */
const ATOM = String.raw`[^$()*+.?[\\\]^{|}]|\.|\\(?:[dDsSwW]|[pP]\{[\w=]+\}|[^\w\s])|\[\^?(?:[^[\\\]]|\\(?:[dDsSwW]|[pP]\{[\w=]+\}|[^\w\s]))*\]`;
const PART = new RegExp(`(${ATOM})(?:([*+?]|\\{\\d{1,3}(?:,\\d{0,3})?\\})\\??)?`, 'uy');
/** Matches an atom that matches no character outside of ASCII. */
const ASCII_ATOM = /^(?:[\0-\x2d\x2f-\x7f]|\\(?:[dw]|\W)|\[(?!\^)(?:[\0-\x5b\x5d-\x7f]|\\(?:[dw]|\W))*\])$/;
const ASCII = String.fromCharCode(...Array(128).keys());

/** An atom with its quantifier, and the ASCII characters that it matches. */
interface PatternPart {
  readonly isAscii: boolean;
  readonly characters: readonly string[];
  readonly isOptional: boolean;
  /** True if the number of its repetitions is not fixed. */
  readonly isVariable: boolean;
}

/**
 * Compiles a pattern that V8 matches in linear time: it begins with `^`, has no groups, and the next character always shows whether a part
 * repeats. If the match fails later, V8 gives up one repetition after the other, and each of these tries ends at its next character.
 *
 * @returns `undefined` for another pattern, and for one with an error; `steps`: the most parts that a character is compared with
 */
export function compileOnePass(pattern: string): { readonly expression: RegExp; readonly steps: number } | undefined {
  const expression = pattern.startsWith('^') ? attempt(() => new RegExp(pattern, 'u')) : undefined;
  if (expression === undefined) return undefined;
  const parts: PatternPart[] = [];
  let end = 1;
  PART.lastIndex = end;
  for (let found = PART.exec(pattern); found !== null; found = PART.exec(pattern)) {
    parts.push(readPart(found));
    end = PART.lastIndex;
  }
  const isOnePass = parts.every((part, index) => !part.isVariable || isFollowedByOthers(part, parts.slice(index + 1)));
  return isOnePass && ['', '$'].includes(pattern.slice(end)) ? { expression, steps: parts.length + 1 } : undefined;
}

function readPart([, atom = '', quantifier = '']: RegExpExecArray): PatternPart {
  const [min, max = min] = quantifier.slice(1, -1).split(',');
  return {
    isAscii: ASCII_ATOM.test(atom),
    characters: ASCII.match(new RegExp(atom, 'gu')) ?? [],
    isOptional: /^(?:[*?]|\{0+[,}])/.test(quantifier),
    isVariable: quantifier.length === 1 || min !== max,
  };
}

/** True if no character that the part matches can begin the text after it. */
function isFollowedByOthers(part: PatternPart, rest: readonly PatternPart[]): boolean {
  const required = rest.findIndex(({ isOptional }) => !isOptional);
  const next = required === -1 ? rest : rest.slice(0, required + 1);
  return next.every(
    ({ isAscii, characters }) =>
      (isAscii || part.isAscii) && !characters.some((character) => part.characters.includes(character)),
  );
}

import { charge } from '../schema/cost-budget.ts';
import { InexactNumbers, ROOT_HOLDER } from '../schema/exact-numbers.ts';
import { isExactDouble } from './exact-double.ts';
import { endOfString, isMemberName } from './json-scan.ts';

/** A value that is a number itself, as a parameter is. */
export function inexactScalar(text: string): InexactNumbers | undefined {
  if (isExactDouble(text)) return undefined;
  const numbers = new InexactNumbers();
  numbers.add(ROOT_HOLDER, '');
  return numbers;
}

/** Of each number: it is printed once, and two texts are compared. */
const EFFORT = 150;
const QUOTE = 0x22;
const COMMA = 0x2c;

/**
 * Finds the objects and lists that hold the inexact ones of the long numbers in a JSON text.
 *
 * @param places start and end of each number, in turn
 * @param value the value of the text
 */
export function findInexactNumbers(
  bytes: Buffer,
  places: readonly number[],
  value: unknown,
): InexactNumbers | undefined {
  const starts = new Set<number>();
  for (let index = 0; index < places.length; index += 2) {
    const [start, end] = [places[index] as number, places[index + 1] as number];
    charge(EFFORT + end - start);
    if (!isExactDouble(bytes.toString('latin1', start, end))) starts.add(start);
  }
  return starts.size === 0 ? undefined : locate(bytes, starts, value);
}

interface Level {
  readonly holder: Record<string | number, unknown>;
  /** Of a list: the index of the item. */
  index: number | undefined;
  /** Of an object: where the name of the member begins and ends, quotes included. */
  name: readonly [number, number];
}

/** Walks the text and its value side by side. The text is JSON, and no object has a name twice. */
function locate(bytes: Buffer, starts: ReadonlySet<number>, value: unknown): InexactNumbers {
  const numbers = new InexactNumbers();
  const levels: Level[] = [];
  const keyIn = ({ index, name }: Level): string | number => index ?? JSON.parse(bytes.toString('utf8', ...name));
  for (let index = 0; index < bytes.length; index += 1) {
    const level = levels.at(-1);
    const byte = bytes[index] as number;
    // Brackets differ from braces in one bit.
    const opened = byte | 0x20;
    if (opened === 0x7b) {
      const inside = level === undefined ? value : level.holder[keyIn(level)];
      levels.push({ holder: inside as Level['holder'], index: byte === 0x5b ? 0 : undefined, name: [0, 0] });
    } else if (opened === 0x7d) levels.pop();
    else if (byte === COMMA && level?.index !== undefined) level.index += 1;
    else if (byte === QUOTE) {
      const end = endOfString(bytes, index);
      if (level !== undefined && isMemberName(bytes, end)) level.name = [index, end + 1];
      index = end;
    } else if (byte > COMMA && starts.has(index)) {
      if (level === undefined) numbers.add(ROOT_HOLDER, '');
      else numbers.add(level.holder, keyIn(level));
    }
  }
  return numbers;
}

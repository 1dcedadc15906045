import { decodeFormText } from '../validation/query.ts';
import { isWord } from './identifier.ts';

const MAX_NAMES = 16;
const MAX_LENGTH = 32;
/** Stands for a name that may be a secret, such as the token in `?8f14e45f`. */
const HIDDEN = '*';
const IDENTIFIER = /^[A-Za-z_][A-Za-z_-]*\d{0,2}$/;

/**
 * Creates the function that returns the names of the parameters in a query, in order. It hides a name that neither is in the manifest nor
 * looks like words.
 *
 * @param manifestNames the names in the rules of routes
 */
export function createQueryNames(manifestNames: ReadonlySet<string>): (query: string) => readonly string[] {
  return (query) => {
    const names: string[] = [];
    for (const pair of query.slice(1).split('&')) {
      if (pair === '') continue;
      if (names.length === MAX_NAMES) return [...names, HIDDEN];
      const equals = pair.indexOf('=');
      const encoded = equals === -1 ? pair : pair.slice(0, equals);
      const name = decodeFormText(encoded) ?? encoded;
      const isListed = name.length <= MAX_LENGTH && manifestNames.has(name);
      // A name without a value may be the value.
      names.push(isListed || (equals !== -1 && isPlainName(name)) ? name : HIDDEN);
    }
    return names;
  };
}

function isPlainName(name: string): boolean {
  return name.length <= MAX_LENGTH && IDENTIFIER.test(name) && name.split(/[^A-Za-z]+/).every(isWord);
}

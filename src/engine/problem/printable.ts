/** Replaces control and invisible characters, which could manipulate a terminal. Keeps the length in code units. */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (characters) => '\uFFFD'.repeat(characters.length));
}

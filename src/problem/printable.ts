/** What a person wrote, without what steers a terminal or hides in it; as long as it was, in code units. */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) => '\uFFFD'.repeat(found.length));
}

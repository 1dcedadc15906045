/**
 * The JSON of an object with a long list as its last member, piece by piece.
 *
 * @param head the members before it; at least one
 */
export function* streamJsonWithList(head: object, name: string, items: Iterable<unknown>): Generator<string> {
  yield `${openJsonObject(head)}"${name}":[`;
  let separator = '';
  for (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ',';
  }
  yield ']}\n';
}

/** The JSON of an object without its end; further members follow. */
export function openJsonObject(head: object): string {
  const text = JSON.stringify(head).slice(0, -1);
  return text === '{' ? text : `${text},`;
}

/**
 * Yields the JSON of an object in chunks, with a long list as its last member.
 *
 * @param head the members before the list; at least one
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

/** Returns the JSON of an object without its closing brace, so that more members can follow. */
export function openJsonObject(head: object): string {
  const text = JSON.stringify(head).slice(0, -1);
  return text === '{' ? text : `${text},`;
}

/** Header names and values in turn, as received: repeated headers stay separate, and names keep their letter case. */
export type RawHeaders = readonly string[];

/** Returns the first value of a header. @param name in lower case */
export function getHeader(headers: RawHeaders, name: string): string | undefined {
  const index = indexOfHeader(headers, name);
  return index === -1 ? undefined : headers[index + 1];
}

/** Returns all values of a header. @param name in lower case */
export function getAllHeaders(headers: RawHeaders, name: string): string[] {
  return headers.filter((_, index) => index % 2 === 1 && isHeader(headers[index - 1] as string, name));
}

/** True if the predicate accepts the name of a header. */
export function hasHeader(headers: RawHeaders, isMatch: (rawName: string) => boolean): boolean {
  return headers.some((text, index) => index % 2 === 0 && isMatch(text));
}

/** Returns a copy without the headers whose name the predicate accepts. */
export function withoutHeaders(headers: RawHeaders, isRemoved: (rawName: string) => boolean): string[] {
  const rest: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const rawName = headers[index] as string;
    if (!isRemoved(rawName)) rest.push(rawName, headers[index + 1] as string);
  }
  return rest;
}

/** Returns a copy in which the first header of this name has the value. Appends the header if there is none. */
export function setHeader(headers: RawHeaders, name: string, value: string): string[] {
  const index = indexOfHeader(headers, name.toLowerCase());
  return index === -1 ? [...headers, name, value] : headers.with(index + 1, value);
}

/** Returns the headers with those of `others` whose name they do not have. */
export function withMissing(headers: RawHeaders, others: RawHeaders): RawHeaders {
  if (others.length === 0) return headers;
  const names = new Set(headers.map((text, index) => (index % 2 === 0 ? text.toLowerCase() : '')));
  return [...headers, ...withoutHeaders(others, (rawName) => names.has(rawName.toLowerCase()))];
}

export function forEachHeader(headers: RawHeaders, visit: (rawName: string, value: string) => void): void {
  for (let index = 0; index < headers.length; index += 2) visit(headers[index] as string, headers[index + 1] as string);
}

/** True if a header has this name in any letter case. Compares the lengths first, because changing the case costs throughput. */
export function isHeader(rawName: string, name: string): boolean {
  return rawName.length === name.length && rawName.toLowerCase() === name;
}

function indexOfHeader(headers: RawHeaders, name: string): number {
  return headers.findIndex((text, index) => index % 2 === 0 && isHeader(text, name));
}

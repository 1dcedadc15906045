import type { Finding } from '../problem/finding.ts';
import type { TrackedEnvironment } from './dependencies.ts';
import { fileErrorCode } from './source.ts';

/** Returns the text of a file that the manifest names, or why it cannot be read. */
export function readNamedFile(file: string, { readFile }: TrackedEnvironment): string | { readonly code: string } {
  try {
    return readFile(file);
  } catch (error) {
    return { code: fileErrorCode(error) };
  }
}

/** Returns a finding with its places in one file of the manifest. */
export function withFile(finding: Finding, file: string): Finding {
  const { location, related } = finding;
  return { ...finding, location: { ...location, file }, ...(related && { related: { file, ...related } }) };
}

import type { HeaderRules } from '../../plan/settings/header-rules.ts';
import type { RawHeaders } from './proxy-headers.ts';

/** Headers as a route wants them: those that it removes or sets gone, those that it sets behind the others. */
export function applyHeaderRules(headers: string[], rules: HeaderRules | undefined): string[] {
  return rules === undefined ? headers : [...withoutRemovedHeaders(headers, rules), ...rules.set];
}

/** The same for trailers, in which nothing is said in addition. */
export function applyTrailerRules(trailers: string[], rules: HeaderRules | undefined): string[] {
  return rules === undefined ? trailers : withoutRemovedHeaders(trailers, rules);
}

function withoutRemovedHeaders(headers: RawHeaders, { drops }: HeaderRules): string[] {
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const written = headers[index] as string;
    if (!drops(written)) kept.push(written, headers[index + 1] as string);
  }
  return kept;
}

import type { RateLimit, RateLimitKeyName, RateLimitKeyPart } from '../engine/manifest/manifest.generated.ts';

/** Describes the key of a rate limit: `client`, `body /email and route`. */
export function rateLimitKeyText(key: RateLimit['key']): string {
  return [key].flat().map(partText).join(' and ');
}

function partText(part: RateLimitKeyName | RateLimitKeyPart): string {
  if (typeof part === 'string') return part;
  const { body, claim, header, client } = part;
  if (body !== undefined) return `body ${body}`;
  if (claim !== undefined) return `claim ${claim}`;
  if (header !== undefined) return `header ${header}`;
  return client === undefined ? 'client' : `client (IPv6 /${client.ipv6Prefix})`;
}

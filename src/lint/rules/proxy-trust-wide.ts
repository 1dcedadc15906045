import { findingAt, type Rule } from '../rule.ts';

export const proxyTrustWide: Rule = {
  id: 'proxy-trust-wide',
  category: 'operations',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Whoever is trusted says for itself whose address a request comes from: the log and the upstreams believe it.',
  *find({ manifest }) {
    for (const [index, block] of manifest.server.trustedProxies.entries()) {
      const [address = '', bits] = block.split('/');
      const least = address.includes(':') ? 16 : 8;
      if (bits !== undefined && Number(bits) < least)
        yield findingAt(
          ['server', 'trustedProxies', index],
          'almost anybody is trusted here; write the addresses of the proxies themselves',
        );
    }
  },
};

import { findingAt, type Rule } from '../rule.ts';

export const proxyTrustWide: Rule = {
  id: 'proxy-trust-wide',
  category: 'operations',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'A trusted peer can claim any client address, and the log and the upstreams believe it.',
  *find({ manifest }) {
    for (const [index, block] of manifest.server.trustedProxies.entries()) {
      const [address = '', bits] = block.split('/');
      const minBits = address.includes(':') ? 16 : 8;
      if (bits !== undefined && Number(bits) < minBits)
        yield findingAt(
          ['server', 'trustedProxies', index],
          'this block trusts almost every client; write the addresses of the proxies',
        );
    }
  },
};

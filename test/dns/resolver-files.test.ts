import { describe, expect, it } from 'vitest';
import { candidateNames, parseHosts, parseResolvConf } from '../../src/engine/dns/resolver-files.ts';

describe('parseResolvConf', () => {
  it('reads search domains and ndots', () => {
    const text = `# comment
; another one
nameserver 10.96.0.10
nameserver fd00::a # inline
nameserver nonsense
domain example
search Team.svc.cluster.local. svc.cluster.local
options edns0 ndots:5 timeout:2
`;
    expect(parseResolvConf(text)).toEqual({
      search: ['team.svc.cluster.local', 'svc.cluster.local'],
      ndots: 5,
    });
  });

  it('limits the number of search domains and dots', () => {
    const search = Array.from({ length: 100 }, (_, index) => `d${index}.example`).join(' ');
    const conf = parseResolvConf(`search ${search}\noptions ndots:999`);
    expect([conf.search.length, conf.ndots]).toEqual([16, 15]);
  });

  it.each([
    ['contacts', 5, ['contacts.a', 'contacts.b', 'contacts']],
    ['contacts.team.svc', 5, ['contacts.team.svc.a', 'contacts.team.svc.b', 'contacts.team.svc']],
    ['contacts', 1, ['contacts.a', 'contacts.b', 'contacts']],
    ['contacts.example', 1, ['contacts.example', 'contacts.example.a', 'contacts.example.b']],
    ['contacts.', 5, ['contacts']],
  ])('expands %s with ndots %d to its full names', (name, ndots, names) => {
    expect(candidateNames(name, { search: ['a', 'b'], ndots })).toEqual(names);
  });
});

describe('parseHosts', () => {
  it('collects all addresses of each name and skips malformed lines', () => {
    const hosts = parseHosts('127.0.0.1 One two\r\n::1\tone\n\n999.1.1.1 three\n#127.0.0.2 four\nfive\n');
    expect([...hosts]).toEqual([
      ['one', ['127.0.0.1', '::1']],
      ['two', ['127.0.0.1']],
    ]);
  });
});

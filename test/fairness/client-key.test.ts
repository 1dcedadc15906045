import { BlockList, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clientKey } from '../../src/engine/gateway/fairness/client-key.ts';
import { runs } from '../support/runs.ts';

describe('clientKey', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1%eth0', '192.0.2.1'],
    ['::fffe:192.0.2.1', '0:0:0:0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:0001:2::1', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8::2:0:0:0:1', '2001:db8:0:2'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['::1', '0:0:0:0'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0'],
    ['', ''],
  ])('of %j is %j', (address, key) => {
    expect(clientKey(address)).toBe(key);
  });

  it('is equal exactly for addresses of one network, in any spelling and for any prefix length', () => {
    const groups = fc.array(fc.constantFrom<number[]>(0, 0, 0, 1, 0xff, 0x8000, 0xfffe, 0xffff), {
      minLength: 8,
      maxLength: 8,
    });
    const changed = fc.option(fc.tuple(fc.nat(7), fc.nat(15)), { nil: undefined });
    const spelling = fc.nat({ max: 3 });
    const property = fc.property(
      fc.record({ groups, changed, prefix: fc.integer({ min: 32, max: 128 }), first: spelling, second: spelling }),
      (sample) => {
        const other = [...sample.groups];
        if (sample.changed !== undefined) {
          const [group, bit] = sample.changed;
          other[group] = (other[group] as number) ^ (1 << bit);
        }
        const [a, b] = [spell(sample.groups, sample.first), spell(other, sample.second)];
        expect(isIPv6(a) && isIPv6(b)).toBe(true);
        const network = new BlockList();
        network.addSubnet(spell(sample.groups, 0), prefixOf(sample.groups, sample.prefix), 'ipv6');
        const isSame = network.check(spell(other, 0), 'ipv6') && isMapped(other) === isMapped(sample.groups);
        expect(clientKey(a, sample.prefix) === clientKey(b, sample.prefix)).toBe(isSame);
      },
    );
    fc.assert(property, { numRuns: runs(5_000) });
  });
});

const isMapped = (groups: readonly number[]) => groups.slice(0, 6).join() === '0,0,0,0,0,65535';

/** Each IPv4 address is a client of its own. */
const prefixOf = (groups: readonly number[], prefix: number) => (isMapped(groups) ? 128 : prefix);

/** Returns one of the spellings of an address. */
function spell(groups: readonly number[], spelling: number): string {
  const texts = groups.map((group) => group.toString(16));
  if (spelling === 1) return texts.map((text) => text.padStart(4, '0').toUpperCase()).join(':');
  if (spelling === 2) {
    const [high = 0, low = 0] = groups.slice(6);
    return `${texts.slice(0, 6).join(':')}:${high >> 8}.${high & 255}.${low >> 8}.${low & 255}%eth0`;
  }
  const full = texts.join(':');
  return spelling === 3 ? full.replace(/(?:^|:)0:0(?::0)*(?::|$)/, '::') : full;
}

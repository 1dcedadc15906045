import { expect, it } from 'vitest';
import { AddressList } from '../../src/engine/dns/address-list.ts';

function listOf(...ips: string[]) {
  const list = new AddressList();
  list.replace(ips);
  return { list, next: (rotate = true) => list.next(rotate).map(({ ip }) => ip) };
}

it('returns at most four addresses, and begins with each of them in turn', () => {
  const { next } = listOf('1', '2', '3', '4', '5');
  expect([next(), next(), next(), next(), next(), next()].map((ips) => ips.join(''))).toEqual([
    '1234',
    '2345',
    '3451',
    '4512',
    '5123',
    '1234',
  ]);
});

it('returns addresses that failed a short time ago last, and gives their neighbours no second turn', () => {
  const { list, next } = listOf('1', '2', '3');
  const [first] = list.next(false);
  first?.recordFailure();
  expect([next(), next(), next()].map((ips) => ips.join(''))).toEqual(['231', '321', '231']);
  first?.recordSuccess();
  expect([next(), next()].map((ips) => ips.join(''))).toEqual(['312', '123']);
});

it('keeps the order of the hosts file without rotation', () => {
  const { next } = listOf('1', '2');
  expect([next(false), next(false)]).toEqual([
    ['1', '2'],
    ['1', '2'],
  ]);
});

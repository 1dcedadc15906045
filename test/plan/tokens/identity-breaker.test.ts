import { describe, expect, test } from 'vitest';
import { IdentityBreaker } from '../../../src/plan/tokens/identity-breaker.ts';

function create() {
  const clock = { now: 0 };
  const breaker = new IdentityBreaker(() => clock.now);
  const fail = (client?: string) => {
    if (breaker.mayRequest(client)) breaker.recordFailure(client);
  };
  return { breaker, clock, fail };
}

describe('the breaker of an identity service', () => {
  test('opens after five failures in a row, and lets one question through in two seconds', () => {
    const { breaker, clock, fail } = create();
    for (let count = 0; count < 5; count += 1) fail();
    expect(breaker.isOpen).toBe(true);
    const asked: number[] = [];
    for (clock.now = 0; clock.now < 7_000; clock.now += 500) if (breaker.mayRequest()) asked.push(clock.now);
    expect(asked).toEqual([2_000, 4_000, 6_000]);
    breaker.recordSuccess();
    expect([breaker.isOpen, breaker.mayRequest(), breaker.mayRequest()]).toEqual([false, true, true]);
  });

  test('is not opened by two of several clients', () => {
    const { breaker, fail } = create();
    breaker.mayRequest('victim');
    for (let count = 0; count < 100; count += 1) fail(`attacker${count % 2}`);
    expect(breaker.isOpen).toBe(false);
    for (const client of ['a', 'b', 'c']) fail(client);
    expect(breaker.isOpen).toBe(true);
  });

  test.each([[['x']], [['x', 'y', 'z']]])('is not kept open by %j, which are always first', (attackers) => {
    const { breaker, clock, fail } = create();
    for (let count = 0; count < 20; count += 1) for (const attacker of attackers) fail(attacker);
    expect(breaker.isOpen).toBe(true);
    let askedAt = Number.NaN;
    for (clock.now = 0; clock.now < 60_000 && Number.isNaN(askedAt); clock.now += 10) {
      for (const attacker of attackers) fail(attacker);
      if (breaker.mayRequest('victim')) askedAt = clock.now;
    }
    expect(askedAt).toBeLessThanOrEqual(2_000);
  });
});

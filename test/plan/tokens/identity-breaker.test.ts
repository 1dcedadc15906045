import { describe, expect, test } from 'vitest';
import { CircuitBreaker } from '../../../src/engine/gateway/circuit-breaker/circuit-breaker.ts';
import { IDENTITY_BREAKER_RULE } from '../../../src/engine/tokens/identity-endpoint.ts';

function create() {
  const clock = { now: 0 };
  const breaker = new CircuitBreaker(IDENTITY_BREAKER_RULE, { now: () => clock.now });
  const send = (client: string) => {
    const isAllowed = breaker.isAllowed(client);
    if (isAllowed) breaker.beginRequest(client);
    return isAllowed;
  };
  const fail = (client: string) => {
    if (send(client)) breaker.recordFailure('request', client, 0);
  };
  return { breaker, clock, send, fail };
}

describe('the circuit breaker of an identity service', () => {
  test('opens after five consecutive failures, then lets one request through every two seconds', () => {
    const { breaker, clock, send, fail } = create();
    for (let count = 0; count < 5; count += 1) fail('client');
    expect(breaker.state).toBe('open');
    const sentAt: number[] = [];
    for (clock.now = 0; clock.now < 7_000; clock.now += 500) if (send('client')) sentAt.push(clock.now);
    expect(sentAt).toEqual([2_000, 4_000, 6_000]);
    breaker.recordResponse();
    expect([breaker.state, send('client'), send('client')]).toEqual(['closed', true, true]);
  });

  test('is not opened by two of several clients', () => {
    const { breaker, send, fail } = create();
    send('victim');
    for (let count = 0; count < 100; count += 1) fail(`attacker${count % 2}`);
    expect(breaker.state).toBe('closed');
    for (const client of ['a', 'b', 'c']) fail(client);
    expect(breaker.state).toBe('open');
  });

  test('stays open no longer when a trial fails', () => {
    const { breaker, clock, send, fail } = create();
    for (let count = 0; count < 5; count += 1) fail('client');
    const sentAt: number[] = [];
    for (clock.now = 0; clock.now < 7_000; clock.now += 500)
      if (send('client')) {
        sentAt.push(clock.now);
        breaker.recordFailure('request', 'client', 0);
      }
    expect(sentAt).toEqual([2_000, 4_000, 6_000]);
  });

  test.each([[['x']], [['x', 'y', 'z']]])('is not kept open by %j, which always send first', (attackers) => {
    const { breaker, clock, send, fail } = create();
    for (let count = 0; count < 20; count += 1) for (const attacker of attackers) fail(attacker);
    expect(breaker.state).toBe('open');
    let sentAt = Number.NaN;
    for (clock.now = 0; clock.now < 60_000 && Number.isNaN(sentAt); clock.now += 10) {
      for (const attacker of attackers) fail(attacker);
      if (send('victim')) sentAt = clock.now;
    }
    expect(sentAt).toBeLessThanOrEqual(2_000);
  });
});

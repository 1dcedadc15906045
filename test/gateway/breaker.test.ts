import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../src/engine/gateway/circuit-breaker/circuit-breaker.ts';

const RULE = { failures: 3, pauseMs: 100, isDefault: false };

/** Begins a request that goes through even if it is not allowed. Returns the number of its trial. */
function begin(breaker: CircuitBreaker, client: string): number {
  return breaker.beginRequest(client, true) ?? Number.NaN;
}

function create(rule = RULE) {
  const clock = { now: 0 };
  const states: string[] = [];
  const breaker = new CircuitBreaker(rule, { publish: (state) => states.push(state), now: () => clock.now });
  const fail = (client = 'a') => breaker.recordFailure('request', client, begin(breaker, client));
  const succeed = (client = 'a') => {
    begin(breaker, client);
    breaker.recordResponse();
    breaker.recordSuccess();
  };
  const open = () => {
    for (let count = 0; count < rule.failures; count += 1) breaker.recordFailure('endpoint', 'a', begin(breaker, 'a'));
  };
  return { breaker, clock, states, fail, succeed, open };
}

describe('a breaker', () => {
  it('counts consecutive failures only', () => {
    const { breaker, fail, succeed } = create();
    fail();
    fail();
    succeed();
    fail();
    fail();
    expect(breaker.state).toBe('closed');
    fail();
    expect(breaker.state).toBe('open');
  });

  it('counts responses that begin and never end', () => {
    const { breaker } = create();
    for (let count = 0; count < 3; count += 1) {
      const trial = begin(breaker, 'a');
      breaker.recordResponse();
      breaker.recordFailure('request', 'a', trial);
    }
    expect(breaker.state).toBe('open');
  });

  it('allows one trial after the pause', () => {
    const { breaker, clock, open } = create();
    open();
    clock.now = 99;
    expect([breaker.isAllowed('a'), breaker.isAllowed()]).toEqual([false, false]);
    clock.now = 100;
    expect([breaker.isAllowed('a'), breaker.isAllowed(), breaker.state]).toEqual([true, true, 'half-open']);
    begin(breaker, 'a');
    expect([breaker.isAllowed('b'), breaker.isAllowed(), breaker.state]).toEqual([false, false, 'half-open']);
  });

  it('pauses again when the trial fails, and closes when a response begins', () => {
    const { breaker, clock, states, fail, open } = create();
    open();
    clock.now = 100;
    fail();
    expect([breaker.isAllowed('a'), breaker.state]).toEqual([false, 'open']);
    clock.now = 200;
    begin(breaker, 'a');
    breaker.recordResponse();
    expect([breaker.isAllowed('a'), breaker.state]).toEqual([true, 'closed']);
    expect(states).toEqual(['open', 'open', 'closed']);
  });

  it('allows the next trial at once when the client ended the last one', () => {
    const { breaker, clock, open } = create();
    open();
    clock.now = 100;
    breaker.recordFailure('client', 'a', begin(breaker, 'a'));
    expect(breaker.isAllowed('a')).toBe(true);
  });

  it('allows another trial when the last one has no result', () => {
    const { breaker, clock, open } = create();
    open();
    clock.now = 100;
    begin(breaker, 'a');
    clock.now = 199;
    expect(breaker.isAllowed('a')).toBe(false);
    clock.now = 200;
    expect(breaker.isAllowed('a')).toBe(true);
  });

  it('doubles the time between trials without a result, so an endpoint that hangs gets few', () => {
    const { breaker, clock, open } = create({ ...RULE, pauseMs: 60_000 });
    open();
    const begun: number[] = [];
    for (clock.now = 60_000; clock.now <= 90_000; clock.now += 100) {
      if (!breaker.isAllowed('a')) continue;
      begin(breaker, 'a');
      begun.push(clock.now - 60_000);
    }
    expect(begun).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
  });

  it('prefers a trial of another client over the client of the last trial', () => {
    const { breaker, clock, open } = create();
    begin(breaker, 'b');
    open();
    clock.now = 100;
    begin(breaker, 'a');
    clock.now = 200;
    expect([breaker.isAllowed('a'), breaker.isAllowed('b')]).toEqual([false, true]);
    clock.now = 300;
    expect(breaker.isAllowed('a')).toBe(true);
  });

  it('ignores a request from before the opening that fails late', () => {
    const { breaker, clock, open } = create();
    open();
    clock.now = 90;
    breaker.recordFailure('request', 'a', 0);
    clock.now = 100;
    expect(breaker.isAllowed('a')).toBe(true);
    begin(breaker, 'a');
    breaker.recordFailure('client', 'a', 0);
    expect(breaker.isAllowed('a')).toBe(false);
  });

  it('ignores a trial of an earlier opening that fails late', () => {
    const { breaker, clock, fail, open } = create();
    open();
    clock.now = 100;
    const late = begin(breaker, 'a');
    clock.now = 200;
    fail();
    clock.now = 300;
    breaker.recordFailure('request', 'a', late);
    expect(breaker.state).toBe('half-open');
  });

  it('never stays open: after a pause without a result it admits a request of any client', () => {
    const step = fc.constantFrom('begin', 'respond', 'fail', 'disconnect', 'wait');
    const client = fc.constantFrom('a', 'b');
    fc.assert(
      fc.property(fc.array(fc.tuple(step, client), { maxLength: 40 }), (steps) => {
        const { breaker, clock } = create();
        let trial = 0;
        for (const [action, name] of steps) {
          if (action === 'wait') clock.now += 30;
          else if (action === 'begin' && breaker.isAllowed(name)) trial = begin(breaker, name);
          else if (action === 'respond') breaker.recordResponse();
          else if (action === 'fail') breaker.recordFailure('endpoint', name, trial);
          else if (action === 'disconnect') breaker.recordFailure('client', name, trial);
        }
        clock.now += 2 * RULE.pauseMs;
        expect([breaker.isAllowed('a'), breaker.isAllowed('b')]).toEqual([true, true]);
      }),
    );
  });
});

describe('failures that a client can cause', () => {
  const FIVE = { ...RULE, failures: 5 };

  it('never open a breaker if only the client can be the source', () => {
    const { breaker } = create();
    for (let count = 0; count < 100; count += 1)
      breaker.recordFailure('client', String(count), begin(breaker, String(count)));
    expect(breaker.state).toBe('closed');
  });

  it('open it only together with failures of other clients if there are several clients', () => {
    const { breaker, fail } = create(FIVE);
    begin(breaker, 'victim');
    for (let count = 0; count < 100; count += 1) fail('attacker');
    expect(breaker.state).toBe('closed');
    fail('victim');
    expect(breaker.state).toBe('closed');
    fail('victim');
    expect(breaker.state).toBe('open');
  });

  it('never open it for one of several clients, even with `failures: 1`', () => {
    const { breaker, fail } = create({ ...RULE, failures: 1 });
    begin(breaker, 'victim');
    for (let count = 0; count < 100; count += 1) fail('attacker');
    expect(breaker.state).toBe('closed');
    fail('victim');
    expect(breaker.state).toBe('open');
  });

  it('do not keep it open, whether two clients fail their trials in turn or one did so alone', () => {
    for (const attackers of [['x'], ['x', 'y']]) {
      const { breaker, clock, fail } = create({ ...FIVE, pauseMs: 10_000 });
      for (let count = 0; count < 10; count += 1) fail(attackers[count % attackers.length]);
      expect(breaker.state).toBe('open');
      let servedAt = Number.NaN;
      for (clock.now = 0; clock.now < 60_000 && Number.isNaN(servedAt); clock.now += 10) {
        // In each round the attackers send their requests first.
        for (const attacker of attackers) if (breaker.isAllowed(attacker)) fail(attacker);
        if (breaker.isAllowed('victim')) servedAt = clock.now;
      }
      expect(servedAt).toBeLessThanOrEqual(15_000);
    }
  });

  it('open it if all requests come from one client', () => {
    const { breaker, fail } = create(FIVE);
    for (let count = 0; count < 5; count += 1) fail();
    expect(breaker.state).toBe('open');
  });

  it('do not include failed connections, which open it for any client', () => {
    const { breaker } = create(FIVE);
    begin(breaker, 'victim');
    for (let count = 0; count < 5; count += 1) breaker.recordFailure('endpoint', 'a', begin(breaker, 'a'));
    expect(breaker.state).toBe('open');
  });
});

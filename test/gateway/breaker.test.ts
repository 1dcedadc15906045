import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../src/circuit-breaker/circuit-breaker.ts';
import { AverageResponseTime } from '../../src/gateway/upstream/average-response-time.ts';

const RULE = { failures: 3, pauseMs: 100, isDefault: false };

function create(rule = RULE) {
  const clock = { now: 0 };
  const news: string[] = [];
  const breaker = new CircuitBreaker(
    rule,
    (state) => news.push(state),
    () => clock.now,
  );
  const fail = (client = 'a') => breaker.recordFailure('request', client, breaker.beginRequest(client));
  const succeed = (client = 'a') => {
    breaker.beginRequest(client);
    breaker.recordResponse();
    breaker.recordSuccess();
  };
  const open = () => {
    for (let count = 0; count < rule.failures; count += 1)
      breaker.recordFailure('endpoint', 'a', breaker.beginRequest('a'));
  };
  return { breaker, clock, news, fail, succeed, open };
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
      const trial = breaker.beginRequest('a');
      breaker.recordResponse();
      breaker.recordFailure('request', 'a', trial);
    }
    expect(breaker.state).toBe('open');
  });

  it('lets one trial through after the pause', () => {
    const { breaker, clock, open } = create();
    open();
    clock.now = 99;
    expect([breaker.isAllowed('a'), breaker.isAnyAllowed]).toEqual([false, false]);
    clock.now = 100;
    expect([breaker.isAllowed('a'), breaker.isAnyAllowed, breaker.state]).toEqual([true, true, 'half-open']);
    breaker.beginRequest('a');
    expect([breaker.isAllowed('b'), breaker.isAnyAllowed, breaker.state]).toEqual([false, false, 'half-open']);
  });

  it('pauses again when the trial fails, and closes when a response begins', () => {
    const { breaker, clock, news, fail, open } = create();
    open();
    clock.now = 100;
    fail();
    expect([breaker.isAllowed('a'), breaker.state]).toEqual([false, 'open']);
    clock.now = 200;
    breaker.beginRequest('a');
    breaker.recordResponse();
    expect([breaker.isAllowed('a'), breaker.state]).toEqual([true, 'closed']);
    expect(news).toEqual(['open', 'open', 'closed']);
  });

  it('lets the next trial through at once when the client ended the last one', () => {
    const { breaker, clock, open } = create();
    open();
    clock.now = 100;
    breaker.recordFailure('client', 'a', breaker.beginRequest('a'));
    expect(breaker.isAllowed('a')).toBe(true);
  });

  it('lets another trial through when the last one has no result', () => {
    const { breaker, clock, open } = create();
    open();
    clock.now = 100;
    breaker.beginRequest('a');
    clock.now = 199;
    expect(breaker.isAllowed('a')).toBe(false);
    clock.now = 200;
    expect(breaker.isAllowed('a')).toBe(true);
  });

  it('gives trials without a result longer places, so that an endpoint that hangs gets few', () => {
    const { breaker, clock, open } = create({ ...RULE, pauseMs: 60_000 });
    open();
    const begun: number[] = [];
    for (clock.now = 60_000; clock.now <= 90_000; clock.now += 100) {
      if (!breaker.isAllowed('a')) continue;
      breaker.beginRequest('a');
      begun.push(clock.now - 60_000);
    }
    expect(begun).toEqual([0, 1_000, 3_000, 7_000, 15_000]);
  });

  it('prefers the trial of another client to one of the client that had the last', () => {
    const { breaker, clock, open } = create();
    breaker.beginRequest('b');
    open();
    clock.now = 100;
    breaker.beginRequest('a');
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
    breaker.beginRequest('a');
    breaker.recordFailure('client', 'a', 0);
    expect(breaker.isAllowed('a')).toBe(false);
  });

  it('ignores a trial of an earlier opening that fails late', () => {
    const { breaker, clock, fail, open } = create();
    open();
    clock.now = 100;
    const late = breaker.beginRequest('a');
    clock.now = 200;
    fail();
    clock.now = 300;
    breaker.recordFailure('request', 'a', late);
    expect(breaker.state).toBe('half-open');
  });

  it('never stays open: after a pause without a result it admits a request of any client', () => {
    const step = fc.constantFrom('begin', 'respond', 'fail', 'leave', 'wait');
    const client = fc.constantFrom('a', 'b');
    fc.assert(
      fc.property(fc.array(fc.tuple(step, client), { maxLength: 40 }), (steps) => {
        const { breaker, clock } = create();
        let trial = 0;
        for (const [what, who] of steps) {
          if (what === 'wait') clock.now += 30;
          else if (what === 'begin' && breaker.isAllowed(who)) trial = breaker.beginRequest(who);
          else if (what === 'respond') breaker.recordResponse();
          else if (what === 'fail') breaker.recordFailure('endpoint', who, trial);
          else if (what === 'leave') breaker.recordFailure('client', who, trial);
        }
        clock.now += 2 * RULE.pauseMs;
        expect([breaker.isAllowed('a'), breaker.isAllowed('b')]).toEqual([true, true]);
      }),
    );
  });
});

describe('what clients cause', () => {
  const FIVE = { ...RULE, failures: 5 };

  it('never opens a breaker', () => {
    const { breaker } = create();
    for (let count = 0; count < 100; count += 1)
      breaker.recordFailure('client', String(count), breaker.beginRequest(String(count)));
    expect(breaker.state).toBe('closed');
  });

  it('opens it by failures that one of several clients may have provoked only with those of others', () => {
    const { breaker, fail } = create(FIVE);
    breaker.beginRequest('victim');
    for (let count = 0; count < 100; count += 1) fail('attacker');
    expect(breaker.state).toBe('closed');
    fail('victim');
    expect(breaker.state).toBe('closed');
    fail('victim');
    expect(breaker.state).toBe('open');
  });

  it('never opens it alone, not even with `failures: 1`', () => {
    const { breaker, fail } = create({ ...RULE, failures: 1 });
    breaker.beginRequest('victim');
    for (let count = 0; count < 100; count += 1) fail('attacker');
    expect(breaker.state).toBe('closed');
    fail('victim');
    expect(breaker.state).toBe('open');
  });

  it('does not keep it open: neither two clients whose trials fail in turn, nor one that was alone before', () => {
    for (const attackers of [['x'], ['x', 'y']]) {
      const { breaker, clock, fail } = create({ ...FIVE, pauseMs: 10_000 });
      for (let count = 0; count < 10; count += 1) fail(attackers[count % attackers.length]);
      expect(breaker.state).toBe('open');
      let servedAt = Number.NaN;
      for (clock.now = 0; clock.now < 60_000 && Number.isNaN(servedAt); clock.now += 10) {
        // In each round the attackers are first.
        for (const attacker of attackers) if (breaker.isAllowed(attacker)) fail(attacker);
        if (breaker.isAllowed('victim')) servedAt = clock.now;
      }
      expect(servedAt).toBeLessThanOrEqual(15_000);
    }
  });

  it('opens it where all requests come from one client', () => {
    const { breaker, fail } = create(FIVE);
    for (let count = 0; count < 5; count += 1) fail();
    expect(breaker.state).toBe('open');
  });

  it('counts connections that fail, whoever wanted them', () => {
    const { breaker } = create(FIVE);
    breaker.beginRequest('victim');
    for (let count = 0; count < 5; count += 1) breaker.recordFailure('endpoint', 'a', breaker.beginRequest('a'));
    expect(breaker.state).toBe('open');
  });
});

describe('clients that leave after a long wait', () => {
  const leave = ({ breaker }: ReturnType<typeof create>, from: number, to: number) => {
    for (let client = from; client < to; client += 1) {
      breaker.beginRequest(String(client));
      breaker.recordAbandoned(String(client));
    }
  };

  it('never open it without a failure, however many leave', () => {
    const made = create();
    leave(made, 0, 2_000);
    expect(made.breaker.state).toBe('closed');
  });

  it('count for half a failure each, beside a failure', () => {
    const made = create();
    made.fail('x');
    leave(made, 0, 3);
    expect(made.breaker.state).toBe('closed');
    leave(made, 3, 4);
    expect(made.breaker.state).toBe('open');
  });

  it('count with failures', () => {
    const made = create();
    made.fail('x');
    made.fail('y');
    leave(made, 0, 1);
    expect(made.breaker.state).toBe('closed');
    leave(made, 1, 2);
    expect(made.breaker.state).toBe('open');
  });

  it('count once each: one client never opens it', () => {
    const made = create();
    for (let count = 0; count < 1_000; count += 1) leave(made, 0, 1);
    expect(made.breaker.state).toBe('closed');
  });

  it('count for nothing once any response has begun', () => {
    const made = create();
    leave(made, 0, 5);
    made.breaker.recordResponse();
    leave(made, 5, 10);
    expect(made.breaker.state).toBe('closed');
  });

  it('have waited for four times the usual time, and for a second', () => {
    const time = new AverageResponseTime();
    expect([time.isSlow(1_000), time.isSlow(1_001)]).toEqual([false, true]);
    for (let count = 0; count < 100; count += 1) time.add(1_000);
    expect([time.isSlow(3_999), time.isSlow(4_001)]).toEqual([false, true]);
  });
});

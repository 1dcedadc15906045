import { changesBetween } from '../plan/changes.ts';
import { judgeInThread } from '../plan/judge-thread.ts';
import type { VerifierStatus } from '../plan/plan.ts';
import { codeFrame, withoutSecrets } from '../problem/frame.ts';
import type { Reload } from '../reload.ts';
import { type Answer, type Call, json, type Operated } from './call.ts';
import { readinessOf } from './health.ts';

/** How the process is, and what is in force. */
export function status(_call: Call, operated: Operated): Answer {
  const { gateway, version, startedAt, lastReload } = operated;
  const { plan } = gateway;
  return json({
    version,
    started_at: startedAt,
    ...readinessOf(operated),
    manifest: { hash: plan.hash, routes: plan.routes.length, loaded_at: operated.inForce().since },
    needs_restart: changesBetween(operated.first, plan).needsRestart,
    last_reload: reloadOf(lastReload()),
    upstreams: gateway.upstreams,
    tokens: plan.auth === undefined ? null : tokensOf(plan.auth.verifier.status),
    judge_thread: judgeInThread.status(),
    reported: Object.fromEntries(gateway.meters.reported),
  });
}

function tokensOf({ verdicts, ...status }: VerifierStatus): object {
  return { ...status, verdicts: Object.fromEntries(verdicts) };
}

/** Who asks again and again is not sent thousands of them each time. */
const MOST_PROBLEMS = 50;

function reloadOf(reload: Reload | undefined): object | null {
  if (reload === undefined) return null;
  const { kind, at } = reload;
  if (reload.kind === 'unreadable') return { kind, at, reason: reload.reason };
  if (reload.kind === 'loaded') return { kind, at, hash: reload.hash, changes: reload.changes };
  const text = withoutSecrets(reload.source.text, reload.problems);
  const problems = reload.problems.slice(0, MOST_PROBLEMS).map(({ file, range, rule, severity, message }) => ({
    file,
    line: range.line,
    column: range.column,
    rule,
    severity,
    message,
    frame: codeFrame(text, range),
  }));
  return { kind, at, problems, problem_count: reload.problems.length };
}

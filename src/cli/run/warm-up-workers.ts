import type { Log } from '../../engine/log/log.ts';
import type { WorkerGroup } from '../../process/workers/worker-group.ts';

/** Warms up all workers. Never rejects: a worker that is cold serves its first requests too, only slower. */
export async function warmUpWorkers(
  workers: Pick<WorkerGroup, 'warmUp'>,
  stop: AbortSignal,
  { logger }: Log,
): Promise<void> {
  try {
    // Imported now that the gateway listens: no request needs these modules.
    const [{ warmUp }, { createWarmUpTraffic }, { startWarmUpUpstream }] = await Promise.all([
      import('../../prove/offline/warm-up.ts'),
      import('../../prove/offline/warm-up-traffic.ts'),
      import('../../prove/offline/warm-up-upstream.ts'),
    ]);
    if (stop.aborted) return;
    const upstream = await startWarmUpUpstream();
    const traffic = createWarmUpTraffic(upstream.url);
    await Promise.all([warmUp(traffic, stop), workers.warmUp(traffic)]).finally(() => upstream.close());
  } catch (error) {
    if (!stop.aborted) logger.warn({ reason: String(error) }, 'the warm-up failed, so the first requests take longer');
  }
}

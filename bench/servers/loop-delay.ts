/** A process loads this module before its program. It reports the longest event loop delay over IPC. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

process.on('message', () => {
  process.send?.(delay.max / 1e6);
  delay.reset();
});
process.channel?.unref();

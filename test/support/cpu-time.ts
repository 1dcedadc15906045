/**
 * Returns the processor time of this thread in milliseconds. Limits of synchronous work use it instead of the clock, which
 * other processes on the machine delay.
 */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

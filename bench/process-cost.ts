import { readdirSync, readFileSync } from 'node:fs';

/** The memory and processor time of a process and its children, such as the workers of nginx, as the kernel reports them. */
export interface ProcessCost {
  readonly residentMb: number;
  /** The highest resident memory so far. */
  readonly maxResidentMb: number;
  readonly processorMs: number;
}

const NANOSECONDS_PER_MS = 1e6;

export function readCost(pid: number): ProcessCost {
  const costs = [ownCost(pid), ...childrenOf(pid).map(readCost)];
  const sum = (key: keyof ProcessCost) => costs.reduce((total, cost) => total + cost[key], 0);
  return { residentMb: sum('residentMb'), maxResidentMb: sum('maxResidentMb'), processorMs: sum('processorMs') };
}

function ownCost(pid: number): ProcessCost {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const megabytes = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  const threads = readdirSync(`/proc/${pid}/task`).map((id) =>
    readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8'),
  );
  const processorMs = threads.reduce((total, text) => total + Number(text.split(' ')[0]), 0) / NANOSECONDS_PER_MS;
  return { residentMb: megabytes('VmRSS'), maxResidentMb: megabytes('VmHWM'), processorMs };
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((id) => readFileSync(`/proc/${pid}/task/${id}/children`, 'utf8').split(' '))
    .filter((text) => text !== '')
    .map(Number);
}

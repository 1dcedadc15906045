/** Whether what is sent to this host stays on this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[?::1\]?)$/.test(hostname);
}

/** Whether nobody on the way can read or change what is sent there: TLS, or this very machine. */
export function isProtectedInTransit({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname);
}

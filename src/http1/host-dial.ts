import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import type { HostAddress } from '../dns/host-address.ts';
import type { HostName } from '../dns/host-name.ts';

type Callback = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Connects one socket to a name: resolves it, tries its addresses, and remembers those that fail. */
export class HostDial {
  readonly #name: HostName;
  readonly #failed = new Set<HostAddress>();
  #addresses: readonly HostAddress[] = [];
  #tried: HostAddress | undefined;
  #isOpen = false;
  #leave: (() => void) | undefined;

  constructor(name: HostName) {
    this.#name = name;
  }

  /** In place of `dns.lookup`, which takes one of the few threads of the process for as long as it takes. */
  readonly lookup = (_host: string, _options: unknown, callback: Callback): void => {
    this.#leave = this.#name.resolve((error, addresses) => {
      this.#addresses = addresses;
      this.#tried = addresses[0];
      const found = addresses.map(({ ip, family }) => ({ address: ip, family }));
      callback(error ?? null, found);
    });
  };

  watch(socket: Socket): void {
    socket
      .on('connectionAttempt', (ip) => {
        this.#tried = this.#find(ip);
      })
      .on('connectionAttemptFailed', (ip) => this.#fail(this.#find(ip)))
      .on('connectionAttemptTimeout', (ip) => this.#fail(this.#find(ip)))
      .on('close', (hadError) => {
        this.#leave?.();
        if (this.#isOpen) this.#name.connections -= 1;
        else if (hadError) this.#fail(this.#tried);
      });
  }

  /** The connection stands. @returns the address that it leads to */
  onOpen(): HostAddress | undefined {
    this.#isOpen = true;
    this.#name.connections += 1;
    this.#tried?.recordSuccess();
    return this.#tried;
  }

  #find(ip: string): HostAddress | undefined {
    return this.#addresses.find((address) => address.ip === ip);
  }

  #fail(address: HostAddress | undefined): void {
    if (address === undefined || this.#failed.has(address)) return;
    this.#failed.add(address);
    address.recordFailure();
    this.#name.onUnreachable();
  }
}

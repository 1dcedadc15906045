import type { LookupAddress } from 'node:dns';
import type { Socket } from 'node:net';
import type { HostAddress } from '../dns/address-list.ts';
import type { HostName } from '../dns/host-name.ts';

type Callback = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** Connects one socket to a host name: resolves it, and records the addresses that fail. */
export class HostDial {
  readonly #name: HostName;
  readonly #failed = new Set<HostAddress>();
  #addresses: readonly HostAddress[] = [];
  #current: HostAddress | undefined;
  #isOpen = false;
  #cancelLookup: (() => void) | undefined;

  constructor(name: HostName) {
    this.#name = name;
  }

  /** Replaces `dns.lookup`, which blocks one of the few threads of the process until it returns. */
  readonly lookup = (_host: string, _options: unknown, callback: Callback): void => {
    this.#cancelLookup = this.#name.resolve((error, addresses) => {
      this.#addresses = addresses;
      this.#current = addresses[0];
      callback(
        error ?? null,
        addresses.map(({ ip, family }) => ({ address: ip, family })),
      );
    });
  };

  watch(socket: Socket): void {
    socket
      .on('connectionAttempt', (ip) => {
        this.#current = this.#find(ip);
      })
      .on('connectionAttemptFailed', (ip) => this.#fail(this.#find(ip)))
      .on('connectionAttemptTimeout', (ip) => this.#fail(this.#find(ip)))
      .on('close', (hadError) => {
        this.#cancelLookup?.();
        if (this.#isOpen) this.#name.connections -= 1;
        else if (hadError) this.#fail(this.#current);
      });
  }

  /** The socket is connected. @returns its address */
  onOpen(): HostAddress | undefined {
    this.#isOpen = true;
    this.#name.connections += 1;
    this.#current?.recordSuccess();
    return this.#current;
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

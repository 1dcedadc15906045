import { NameResolver } from './name-resolver.ts';

/** The resolver of this process, by the machine's own files and name servers. Reads nothing before the first look-up. */
export const systemResolver = new NameResolver();

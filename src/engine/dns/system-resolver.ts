import { NameResolver } from './name-resolver.ts';

/** The resolver of this process, with the files and name servers of the machine. It reads nothing before the first lookup. */
export const systemResolver = new NameResolver();

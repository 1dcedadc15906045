import { bash } from './bash.ts';
import type { CompletionScript } from './completion-script.ts';
import { fish } from './fish.ts';
import { zsh } from './zsh.ts';

export const SHELLS = { bash, zsh, fish } as const satisfies Record<string, CompletionScript>;

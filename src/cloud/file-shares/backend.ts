import type { FileShareNaming } from './tables.ts';

export interface VastSettings {
  rootSquash: boolean;
  pathLength: FileShareNaming | null;
  allowedCharacters: FileShareNaming | null;
}

/** What can be done to a share that exists. */
export type ShareChange =
  | { kind: 'extend'; sizeGib: number }
  | { kind: 'update'; settings: VastSettings | null };

/** What carries out the work on file shares. Asked again with the same share, it answers the same. */
export interface FileShareBackend {
  /** `connectionPoint` is what clients mount once the share has settled. */
  create(share: { id: string; sizeGib: number }): Promise<{ connectionPoint: string; settlesInMs: number }>;
  /** What is as asked already stays so. */
  change(id: string, change: ShareChange): Promise<{ settlesInMs: number }>;
  /** Nothing to do where the share isn't there. */
  delete(id: string): Promise<{ settlesInMs: number }>;
}

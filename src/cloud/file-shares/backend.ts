/** What carries out the work on file shares. Asked again with the same share, it answers the same. */
export interface FileShareBackend {
  /** `connectionPoint` is what clients mount once the share has settled. */
  create(share: { id: string; sizeGib: number }): Promise<{ connectionPoint: string; settlesInMs: number }>;
  /** Nothing to do where the share isn't there. */
  delete(id: string): Promise<{ settlesInMs: number }>;
}

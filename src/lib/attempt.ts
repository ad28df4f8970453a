/** What the work answers; undefined where it fails, for whatever reason: of things that needn't be there. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

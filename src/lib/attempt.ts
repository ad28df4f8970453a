/** Returns the result of `work`; undefined if it fails for any reason. For things that may be missing. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

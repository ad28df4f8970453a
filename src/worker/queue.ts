/** A piece of work that a worker has claimed. */
export interface Claim {
  key: string;
  /** The state when it was claimed. If the state or the worker has changed, it must not be worked on. */
  state: string | number;
  /** Works on it until the claim is released; if aborted, the claim is released as well. */
  work(signal: AbortSignal): Promise<void>;
}

/** Work that workers divide among themselves through the database, each piece to one of them. */
export interface Queue {
  /** Its name in the log. */
  name: string;
  /** The topic that tells workers of new work and, with a key, that a claim may no longer be theirs. */
  topic: string;
  /**
   * Claims some of the due work, if there is room beside what is claimed already. Returns false if nothing is
   * left to claim.
   */
  take(inHand: ReadonlyMap<string, unknown>, begin: (claim: Claim) => void): Promise<boolean>;
  /** Returns what the database counts as this worker's: states by key. */
  claimed(): Promise<ReadonlyMap<string, Claim['state']>>;
  giveBack(keys: readonly string[]): Promise<void>;
  /** Releases the claims of dead workers. Returns how many there were. */
  takeFromDead(): Promise<number>;
  /** Does the queue's regular housekeeping. */
  sweep(): Promise<void>;
}

/** A piece of work in a worker's hands. */
export interface Claim {
  key: string;
  /** As it was when it was taken. In another state, or in other hands, it isn't to be worked on. */
  state: string | number;
  /** Works on it until it is out of this worker's hands; aborted, it is given back. */
  work(signal: AbortSignal): Promise<void>;
}

/** Work that workers share out among themselves in the database, each piece to one of them. */
export interface Queue {
  /** As it is called in the log. */
  name: string;
  /** Under it workers hear that there may be something to take, and with a key that they may have that no more. */
  topic: string;
  /** Takes some of what is due, if there is room beside what is in hand. False where there is nothing more to take. */
  take(inHand: ReadonlyMap<string, unknown>, begin: (claim: Claim) => void): Promise<boolean>;
  /** What the database counts as this worker's: its state by key. */
  claimed(): Promise<ReadonlyMap<string, Claim['state']>>;
  giveBack(keys: readonly string[]): Promise<void>;
  /** Frees what is in the hands of dead workers. Answers how much that was. */
  takeFromDead(): Promise<number>;
  /** What there is to do now and then besides. */
  sweep(): Promise<void>;
}

import { AsyncLocalStorage } from 'node:async_hooks';

const running = new AsyncLocalStorage<DryRun | undefined>();

/** Returns the dry run that the present call belongs to. */
export const dryRunNow = (): DryRun | undefined => running.getStore();

/** Returns the database connection on which everything is read while a dry run's transaction is open. */
export const dryConnection = (): object | undefined => running.getStore()?.client;

/**
 * A request that only shows what it would do. Its transaction does all the work and stays open until the answer is
 * known. Meanwhile whatever the request reads comes from that transaction, as it would after the commit.
 */
export class DryRun {
  #client: object | undefined;
  #end: () => void = () => {};
  readonly #over: Promise<void>;
  readonly #uses = new Set<Promise<unknown>>();

  constructor() {
    this.#over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Of the open transaction, if its work is done. */
  get client(): object | undefined {
    return this.#client;
  }

  /** Lets the request go on with a transaction whose work is done, until the dry run ends. */
  async hold(client: object, goOn: () => void): Promise<void> {
    this.#client = client;
    goOn();
    await this.#over;
    // It may have ended before.
    this.#client = undefined;
    await Promise.allSettled(this.#uses);
  }

  /** Does more on the open transaction, which isn't taken back before that has ended. */
  async use<T>(work: Promise<T>): Promise<T> {
    this.#uses.add(work);
    try {
      return await work;
    } finally {
      this.#uses.delete(work);
    }
  }

  within<T>(work: () => T): T {
    return running.run(this, work);
  }

  /** Reads what is there without the dry run. */
  outside<T>(work: () => T): T {
    return running.run(undefined, work);
  }

  /** Takes everything back. */
  end(): void {
    this.#client = undefined;
    this.#end();
  }
}

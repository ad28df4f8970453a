import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActionResource } from './resources.ts';

/** What is recorded of a change, in the database's transaction that makes it. */
export interface ChangeRecord {
  /** Whether the request is for one version of the resource alone (If-Match), so that it can't be carried out later. */
  readonly oneVersion?: boolean;
  /** Called at the beginning of each attempt. */
  before(tx: object): Promise<void>;
  after(tx: object): Promise<void>;
  /** Called once the transaction is committed. */
  committed(): void;
  /** Names the account whose resources the change is about, if it isn't the caller's. */
  concerns(clientId: number): void;
  /** Notes a resource that is made, changed or removed, for the record of who did it. */
  about(resource: ActionResource): void;
  /** Notes the ID of what is made, if `about` has no word for it. */
  made(id: string | number): void;
  started(taskId: string): void;
}

/** What the present call belongs to. */
interface RequestContext {
  /** Whose turn it has to wait for; undefined for the server's own work. */
  account: number | undefined;
  /** Whether the request has made its change. */
  progress: { committed: boolean };
  /** Of a request that changes something. */
  record: ChangeRecord | undefined;
}

const context = new AsyncLocalStorage<RequestContext>();

/** Does `work` for a request of that account. `record` is set if the request changes something. */
export const onBehalfOf = <T>(account: number, work: () => T, record?: ChangeRecord): T =>
  context.run({ account, progress: { committed: false }, record }, work);

/** Does `work` that doesn't take an account's turn, although a request may have begun it. */
export const onOwnBehalf = <T>(work: () => T): T =>
  context.run({ account: undefined, progress: { committed: false }, record: recordNow() }, work);

/** Does `work` whose change is recorded otherwise, or not at all. */
export const recordedBy = <T>(record: ChangeRecord | undefined, work: () => T): T =>
  context.run({ account: undefined, progress: { committed: false }, ...context.getStore(), record }, work);

/**
 * Returns the account whose turn the present call has to wait for; undefined for the server's own work, and for what a
 * request does after its change is committed: an answer that says otherwise would be wrong.
 */
export function accountNow(): number | undefined {
  const now = context.getStore();
  return now?.progress.committed ? undefined : now?.account;
}

/** Returns the record of the present change; undefined where nothing is recorded, as for a request that only reads. */
export const recordNow = (): ChangeRecord | undefined => context.getStore()?.record;

/** The request has made its change. Whatever else it does waits for no turn. */
export function noteCommit(): void {
  const now = context.getStore();
  if (now) now.progress.committed = true;
}

/** Notes the account whose resources the present change is about, if it isn't the caller's. */
export const noteAccount = (clientId: number): void => recordNow()?.concerns(clientId);

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

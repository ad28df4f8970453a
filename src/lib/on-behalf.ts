import { AsyncLocalStorage } from 'node:async_hooks';

interface Behalf {
  account: number | undefined;
  /** Whether the request has made its change. */
  committed: boolean;
}
const behalf = new AsyncLocalStorage<Behalf>();

/**
 * Returns the account whose turn the present call has to wait for; undefined for the server's own work, and for what a
 * request does after its change is committed: an answer that says otherwise would be wrong.
 */
export function accountNow(): number | undefined {
  const now = behalf.getStore();
  return now?.committed ? undefined : now?.account;
}

/** Does `work` for a request of that account. */
export const onBehalfOf = <T>(account: number, work: () => T): T =>
  behalf.run({ account, committed: false }, work);

/** Does `work` that doesn't take an account's turn, although a request may have begun it. */
export const onOwnBehalf = <T>(work: () => T): T =>
  behalf.run({ account: undefined, committed: false }, work);

/** The request has made its change. Whatever else it does waits for no turn. */
export function noteCommit(): void {
  const now = behalf.getStore();
  if (now) now.committed = true;
}

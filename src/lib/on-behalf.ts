import { AsyncLocalStorage } from 'node:async_hooks';

const accounts = new AsyncLocalStorage<number | undefined>();

/** Returns the account whose request the present call belongs to; undefined for the server's own work. */
export const accountNow = (): number | undefined => accounts.getStore();

/** Does `work` for a request of that account. */
export const onBehalfOf = <T>(clientId: number, work: () => T): T => accounts.run(clientId, work);

/** Does `work` that doesn't take an account's turn, although a request may have begun it. */
export const onOwnBehalf = <T>(work: () => T): T => accounts.run(undefined, work);

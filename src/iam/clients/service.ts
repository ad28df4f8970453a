import { randomBytes } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { ForbiddenError, NotFoundError } from '../../lib/errors.ts';
import { insertAccount } from '../accounts/new-account.ts';
import type { FeatureActivation } from '../features/schema.ts';
import type { Principal } from '../identity/principal.ts';
import { presentedAccount } from './presenter.ts';
import type { Account, CreateClient, CreatedClient } from './schema.ts';
import { findAccount } from './store.ts';

/** What this feature needs to know of features. */
export interface ActivatedFeatures {
  ofClient(clientId: number): Promise<FeatureActivation[]>;
}

export interface Clients {
  /** The caller's own account. */
  me(principal: Principal): Promise<Account>;
  /** A client of the caller's reseller, with an administrator and a default project that is ready for use. */
  create(principal: Principal, request: CreateClient): Promise<CreatedClient>;
}

export function createClients(deps: {
  database: Database;
  clock: Clock;
  features: ActivatedFeatures;
  /** Gives every project what each has from its first moment on, in the transaction that made it. */
  prepareProjects: (tx: Transaction) => Promise<void>;
}): Clients {
  const { database, clock, features, prepareProjects } = deps;
  return {
    async me({ clientId, userId }) {
      const row = await findAccount(database.sql, clientId);
      if (!row) throw new NotFoundError('Client', clientId);
      return presentedAccount(row, userId, await features.ofClient(clientId));
    },

    async create(principal, { company }) {
      const { resellerId } = principal;
      if (resellerId === undefined) {
        throw new ForbiddenError('The token belongs to no reseller, so that a client would belong to none');
      }
      return database.accept(principal, async (tx) => {
        const { clientId } = await insertAccount(tx.sql, {
          company,
          resellerId,
          administrator: { email: placeholderEmail(), resellerId: null, platformAdministrator: false },
          now: clock.now(),
        });
        await prepareProjects(tx);
        return { id: clientId, company };
      });
    },
  };
}

/** Users have an address of their own each, and the request brings none. RFC 2606: `.invalid` leads nowhere. */
function placeholderEmail(): string {
  return `admin@${randomBytes(8).toString('hex')}.invalid`;
}

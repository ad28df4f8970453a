import type { Transaction } from '../../db/database.ts';
import type { Scope } from '../projects/service.ts';
import { existingGroups, groupsIn, putOnPorts } from './store.ts';

/** Which groups new ports may get, and putting them there. */
export interface PortGroups {
  /** Those of the ids that are groups of the project and region; ids in small letters. */
  existing(tx: Transaction, scope: Scope, ids: string[]): Promise<Set<string>>;
  /** The group of ports that name none; undefined when the project has no default group. */
  defaultGroup(tx: Transaction, scope: Scope): Promise<string | undefined>;
  put(tx: Transaction, links: { portId: string; groupId: string }[]): Promise<void>;
}

export const portGroups: PortGroups = {
  existing: (tx, scope, ids) => existingGroups(tx, scope, ids),

  async defaultGroup(tx, scope) {
    const row = await groupsIn(tx.sql, scope).select('id').where('is_default', '=', true).executeTakeFirst();
    return row?.id;
  },

  put: putOnPorts,
};

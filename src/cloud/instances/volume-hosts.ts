import type { VolumeHosts } from '../volumes/hosts.ts';
import { refuseNode } from './nodes/refuse-node.ts';
import { lockInstance } from './store.ts';

/** What volumes need of the instances that they are attached to. */
export const volumeHosts: VolumeHosts = {
  async lock(tx, place, id) {
    const instance = await lockInstance(tx, place, id);
    if (instance) await refuseNode(tx, instance);
    return instance;
  },

  async refuseNode(tx, id) {
    // An instance is a node for good or never, so nothing needs to be locked.
    const { pool_id } = await tx.sql
      .selectFrom('instances')
      .select('pool_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await refuseNode(tx, { id, pool_id });
  },
};

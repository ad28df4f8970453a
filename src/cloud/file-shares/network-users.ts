import type { NetworkUsers } from '../networks/users.ts';

/** Shares that keep a network or a subnet from being deleted. */
export const sharesInNetworks: NetworkUsers = {
  async usersOf(tx, { projectId, regionId }, where, limit) {
    const shares = tx.sql
      .selectFrom('file_shares')
      .select(['id', 'name'])
      .where('project_id', '=', projectId)
      .where('region_id', '=', regionId)
      .orderBy('name')
      .orderBy('id')
      .limit(limit);
    const rows = await ('networkId' in where
      ? shares.where('network_id', '=', where.networkId)
      : shares.where('subnet_id', '=', where.subnetId)
    ).execute();
    return rows.map(({ id, name }) => `file share ${name} (${id})`);
  },
};

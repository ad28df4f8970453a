import { sql } from 'kysely';
import type { Sql } from '../../../db/database.ts';
import { ownAccountOf } from '../../accounts/service.ts';

export interface ResellerRow {
  id: number;
  name: string;
  client_id: number | null;
  clients: number;
  created_at: Date;
}

/** Lists resellers that are not deleted, by ID. */
export async function listResellers(db: Sql, { after, limit }: { after: number; limit: number }) {
  const { rows } = await sql<ResellerRow>`
    select ${COLUMNS} from resellers where deleted_at is null and id > ${after} order by id limit ${limit}`.execute(db);
  return rows;
}

export async function findReseller(db: Sql, id: number): Promise<ResellerRow | undefined> {
  const { rows } = await sql<ResellerRow>`
    select ${COLUMNS} from resellers where deleted_at is null and id = ${id}`.execute(db);
  return rows[0];
}

const COLUMNS = sql`id, name, created_at,
  (select count(*)::int from clients where reseller_id = resellers.id and clients.deleted_at is null) as clients,
  ${ownAccountOf(sql`resellers.id`)} as client_id`;

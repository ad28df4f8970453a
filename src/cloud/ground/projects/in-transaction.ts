import type { Sql } from '../../../db/database.ts';

export { leftIn } from './contents.ts';
export { beginRemoval, beginRemovalOfAll, refuseDefault } from './removal.ts';
export {
  changeProject,
  insertProject,
  lockProject,
  markStaying,
  moveToDeleted,
  type ProjectRow,
} from './store.ts';

/** Inserts the default project of an account. Every account always has one. */
export async function insertDefaultProject(db: Sql, clientId: number, now: Date): Promise<void> {
  await db
    .insertInto('projects')
    .values({ client_id: clientId, name: 'Default', description: null, is_default: true, created_at: now })
    .execute();
}

import { type RawBuilder, sql } from 'kysely';
import type { Sql, Transaction } from '../../../../db/database.ts';

/** Has workers stop or start the machines of an account whose status has just changed. */
export async function planSuspension(tx: Transaction, clientId: number): Promise<void> {
  const anew = { try_at: tx.now, after_id: null, attempts: 0 };
  await tx.sql
    .insertInto('suspension_turns')
    .values({ client_id: clientId, ...anew })
    .onConflict((one) => one.column('client_id').doUpdateSet(anew))
    .execute();
}

export async function isAnyDue(db: Sql, now: Date): Promise<boolean> {
  const { rows } = await sql<{ due: boolean }>`
    select exists (select from suspension_turns where try_at <= ${now}) as due`.execute(db);
  return rows[0]?.due === true;
}

/** What to do for an account now, by its status. */
export interface Turn {
  client_id: number;
  try_at: Date;
  after_id: string | null;
  attempts: number;
  status: 'active' | 'paused';
  /** In whose name it is done. */
  user_id: number;
  user_client_id: number;
}

/** Takes the turn that has been due for longest, so that no other worker does until then. */
export async function takeDueTurn(tx: Transaction, until: Date): Promise<Turn | undefined> {
  const { rows } = await sql<Turn>`
    update suspension_turns set try_at = ${until}
    from clients, (
      select id as user_id, client_id as user_client_id from users
      where platform_administrator and deleted_at is null order by id limit 1
    ) as platform
    where clients.id = suspension_turns.client_id and suspension_turns.client_id = (
      select client_id from suspension_turns where try_at <= ${tx.now} order by try_at limit 1 for update skip locked)
    returning suspension_turns.*, clients.status, user_id, user_client_id`.execute(tx.sql);
  return rows[0];
}

/** Notes how far it is, unless the account's status has changed since the turn was taken. */
export async function changeTurn(
  db: Sql,
  { client_id, try_at }: Turn,
  change: Partial<Pick<Turn, 'try_at' | 'after_id' | 'attempts'>> | 'done',
): Promise<void> {
  if (change === 'done') {
    await db.deleteFrom('suspension_turns').where('client_id', '=', client_id).where('try_at', '=', try_at).execute();
    return;
  }
  await db
    .updateTable('suspension_turns')
    .set(change)
    .where('client_id', '=', client_id)
    .where('try_at', '=', try_at)
    .execute();
}

/** Nodes of clusters belong to their pools, which would replace a node that stops. */
const TO_CHANGE: Record<Turn['status'], { now: RawBuilder<boolean>; later: RawBuilder<boolean> }> = {
  paused: {
    // A machine whose host is gone may come back.
    now: sql`pool_id is null and vm_state in ('active', 'error') and task_id is null`,
    later: sql`pool_id is null and (vm_state in ('active', 'error') or task_id is not null)`,
  },
  active: {
    now: sql`stopped_by_suspension and vm_state = 'stopped' and task_id is null`,
    later: sql`stopped_by_suspension and (vm_state = 'stopped' or task_id is not null)`,
  },
};

const ofClient = (clientId: number) => sql`project_id in (select id from projects where client_id = ${clientId})`;

export interface Machine {
  id: string;
  name: string;
  project_id: number;
  region_id: number;
}

/** Returns machines to stop or start, in the order of their IDs. */
export async function machinesToChange(db: Sql, turn: Turn, limit: number): Promise<Machine[]> {
  const { rows } = await sql<Machine>`
    with own as materialized (
      select id, name, project_id, region_id from instances
      where ${ofClient(turn.client_id)} and ${TO_CHANGE[turn.status].now}
    )
    select * from own where id > coalesce(${turn.after_id}::uuid, '00000000-0000-0000-0000-000000000000')
    order by id limit ${limit}`.execute(db);
  return rows;
}

/** Whether some are still to stop or start, or may be when their task ends. */
export async function isAnyLeft(db: Sql, turn: Turn): Promise<boolean> {
  const { rows } = await sql<{ left: boolean }>`
    select exists (
      select from instances where ${ofClient(turn.client_id)} and ${TO_CHANGE[turn.status].later}
    ) as left`.execute(db);
  return rows[0]?.left === true;
}

/**
 * Keeps the account as it is until the transaction ends. Returns false if its status has changed since the turn was taken, or it is
 * being deleted.
 */
export async function keepStatus(tx: Transaction, { client_id, status }: Turn): Promise<boolean> {
  const { rows } = await sql<{ same: boolean }>`
    select status = ${status} and not exists (
      select from deletions where client_id = clients.id and project_id is null and ended_at is null) as same
    from clients where id = ${client_id} for share`.execute(tx.sql);
  return rows[0]?.same === true;
}

/** Locks the machine if it is still to stop or start and nobody else has it locked. */
export async function lockMachine(tx: Transaction, { status }: Turn, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from instances where id = ${id} and ${TO_CHANGE[status].now} for update skip locked`.execute(tx.sql);
  return rows.length > 0;
}

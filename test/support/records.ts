import type { Pool } from 'pg';

/** Lets nobody record a command of the operator until the returned function is called. */
export async function refuseRecordsOfCommands(pool: Pick<Pool, 'query'>): Promise<() => Promise<void>> {
  await pool.query(
    `alter table user_actions add constraint no_commands check (origin is distinct from 'command') not valid`,
  );
  return async () => {
    await pool.query('alter table user_actions drop constraint no_commands');
  };
}

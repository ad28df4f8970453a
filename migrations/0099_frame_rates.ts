import { type Kysely, sql } from 'kysely';

/** The rate at which a film's frames are numbered. The previous release leaves it out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ai_tasks add column frame_rate double precision`.execute(db);
  await sql`comment on column ai_tasks.frame_rate is 'Of the film, in frames a second. Null for sound and old tasks.'`.execute(
    db,
  );
}

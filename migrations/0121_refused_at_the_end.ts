import { type Kysely, sql } from 'kysely';

/** Lets a statement fail by itself where what it needs doesn't hold: nobody has to wait for its answer before the commit. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function require_that(holds boolean) returns void language plpgsql as $$
    begin
      if holds is not true then
        raise exception 'The change is refused; it is made once more to say why' using errcode = 'TW001';
      end if;
    end $$`.execute(db);
}

import { type Kysely, sql } from 'kysely';

/** The platform leads out of default networks: what is wanted of their subnets says so now. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['wants', 'simulated_objects'])
    await sql`
      update ${sql.table(table)} as of set spec = of.spec || '{"platformRouted": true}'
      from subnets join networks on networks.id = network_id
      where of.kind = 'subnet' and of.id = subnets.id and networks.is_default and of.spec is not null`.execute(db);
}

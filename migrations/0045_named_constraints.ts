import { type Kysely, sql } from 'kysely';

/**
 * PostgreSQL numbered the checks of several columns, and the numbers meant nothing. No release uses these
 * names.
 */
const NAMES: Record<string, Record<string, string>> = {
  file_shares: { check: 'standard_network', check1: 'vast_settings', check2: 'connected' },
  floating_ips: { check: 'of_port' },
  ip_assignments: { check: 'one_holder' },
  kubernetes_clusters: { check: 'held' },
  kubernetes_credentials: { check: 'expiry' },
  kubernetes_pools: { check: 'node_range' },
  networks: { check: 'external_of_nobody', check1: 'held' },
  ports: { check: 'in_use' },
  subnets: { check: 'range', check1: 'held' },
};

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, names] of Object.entries(NAMES)) {
    for (const [old, name] of Object.entries(names)) {
      await sql`
        alter table ${sql.table(table)}
          rename constraint ${sql.ref(`${table}_${old}`)} to ${sql.ref(`${table}_${name}`)}`.execute(db);
    }
  }
}

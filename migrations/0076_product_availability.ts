import { type Kysely, sql } from 'kysely';

/** What a reseller's clients may have: by default, and single ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table product_defaults (
      reseller_id bigint not null constraint product_defaults_reseller references resellers,
      product text not null constraint product_defaults_product check (product in ('CLOUD', 'STREAMING')),
      available boolean not null,
      constraint product_defaults_pkey primary key (reseller_id, product)
    )`.execute(db);
  await sql`
    create table client_products (
      client_id bigint not null constraint client_products_client references clients,
      product text not null constraint client_products_product check (product in ('CLOUD', 'STREAMING')),
      available boolean not null,
      constraint client_products_pkey primary key (client_id, product)
    )`.execute(db);
}

import { type Kysely, sql } from 'kysely';

/** Invoices of months, what corrects them, and what was paid. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await invoices(db);
  await credits(db);
  await sql`
    create table payments (
      id bigint generated always as identity constraint payments_pkey primary key,
      invoice_id bigint not null constraint payments_invoice references invoices,
      amount numeric(20, 2) not null constraint payments_amount check (amount > 0),
      paid_at timestamptz not null,
      reference text not null,
      created_by bigint not null,
      created_at timestamptz not null,
      constraint payments_once unique (invoice_id, reference)
    )`.execute(db);
}

async function invoices(db: Kysely<unknown>): Promise<void> {
  // How far the work on each month has come.
  await sql`
    create table billed_months (
      month text not null constraint billed_months_pkey primary key,
      stage text not null constraint billed_months_stage check (
        stage in ('draft_clients', 'draft_resellers', 'final_clients', 'final_resellers', 'done')),
      -- The next account or reseller of the stage.
      next_id bigint not null
    )`.execute(db);
  await sql`create index billed_months_open on billed_months (month) where stage <> 'done'`.execute(db);
  await sql`
    create table invoice_counters (
      issuer_id bigint not null,
      series text not null constraint invoice_counters_series check (series in ('invoice', 'credit_note')),
      year integer not null,
      last bigint not null,
      constraint invoice_counters_pkey primary key (issuer_id, series, year)
    )`.execute(db);
  // No references: invoices outlive whom they are about.
  await sql`
    create table invoices (
      id bigint generated always as identity constraint invoices_pkey primary key,
      kind text not null constraint invoices_kind check (kind in ('retail', 'wholesale')),
      -- The reseller, or 0 for the platform.
      issuer_id bigint not null,
      -- Who issues a retail invoice, and who gets a wholesale one.
      reseller_id bigint not null,
      -- Null for wholesale.
      client_id bigint,
      month text not null,
      currency text not null,
      state text not null constraint invoices_state check (
        state in ('draft', 'open', 'partly_paid', 'paid', 'credited')),
      number text,
      issuer jsonb not null,
      customer jsonb not null,
      taxes jsonb not null,
      net numeric(20, 2) not null,
      vat numeric(20, 2) not null,
      gross numeric(20, 2) not null,
      paid numeric(20, 2) not null default 0,
      credited numeric(20, 2) not null default 0,
      created_at timestamptz not null,
      finalized_at timestamptz,
      constraint invoices_once unique nulls not distinct (client_id, reseller_id, month, currency, kind),
      constraint invoices_number unique (issuer_id, number),
      constraint invoices_numbered check ((state = 'draft') = (number is null)),
      constraint invoices_sums check (paid >= 0 and credited >= 0 and credited <= gross)
    )`.execute(db);
  await sql`create index invoices_of_client on invoices (client_id, id) where client_id is not null`.execute(db);
  await sql`create index invoices_of_reseller on invoices (reseller_id, id)`.execute(db);
  await sql`create index invoices_of_month on invoices (month, id)`.execute(db);
  await sql`create index invoices_by_state on invoices (state, id)`.execute(db);
  await sql`
    create table invoice_lines (
      invoice_id bigint not null constraint invoice_lines_invoice references invoices on delete cascade,
      -- From 1 on, in the order in which they are shown; 0 until the amounts are known.
      line integer not null default 0,
      -- Not project_id: a project that is emptied keeps its bills. 0 for wholesale.
      project bigint not null,
      project_name text,
      region_id bigint not null,
      type text not null,
      sku text not null,
      tax_percent numeric not null,
      reverse_charge boolean not null,
      -- In seconds, or GiB times seconds.
      quantity numeric not null,
      -- With tax, as the cost statement has it.
      exact numeric not null,
      amount numeric(20, 2) not null default 0,
      credited numeric(20, 2) not null default 0,
      constraint invoice_lines_pkey
        primary key (invoice_id, project, region_id, type, sku, tax_percent, reverse_charge),
      constraint invoice_lines_credited check (credited >= 0 and credited <= amount)
    )`.execute(db);
}

async function credits(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table credit_notes (
      id bigint generated always as identity constraint credit_notes_pkey primary key,
      invoice_id bigint not null constraint credit_notes_invoice references invoices,
      issuer_id bigint not null,
      number text not null,
      reason text not null,
      taxes jsonb not null,
      -- Which of the lines, with amounts.
      lines jsonb not null,
      net numeric(20, 2) not null,
      vat numeric(20, 2) not null,
      gross numeric(20, 2) not null constraint credit_notes_gross check (gross > 0),
      created_by bigint not null,
      created_at timestamptz not null,
      constraint credit_notes_number unique (issuer_id, number)
    )`.execute(db);
  await sql`create index credit_notes_of_invoice on credit_notes (invoice_id, id)`.execute(db);
}

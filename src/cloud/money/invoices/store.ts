import { type RawBuilder, type Selectable, sql } from 'kysely';
import { holds, type Sql, type Transaction } from '../../../db/database.ts';
import type { CreditedLine, TaxSum } from '../../../db/json-columns.ts';
import type { Tables } from '../../../db/tables.ts';
import type { MoneySight } from '../../../requests/principal.ts';
import { isAllTrafficKnown } from '../costs/service.ts';

export type InvoiceRow = Selectable<Tables['invoices']>;
export type LineRow = Selectable<Tables['invoice_lines']>;
export type CreditNoteRow = Selectable<Tables['credit_notes']>;
export type PaymentRow = Selectable<Tables['payments']>;
type Series = Tables['invoice_counters']['series'];
export type MonthRow = Selectable<Tables['billed_months']>;

/** Invoices that a caller may see: all; or those of its reseller, and those that it gets. */
function seenBy(sight: MoneySight): RawBuilder<boolean> {
  if (sight.all) return sql`true`;
  const { clientId, resellerId } = sight;
  const own = sql`(client_id = ${clientId} and state <> 'draft')`;
  if (resellerId === null) return sql`${own}`;
  return sql`(${own} or (reseller_id = ${resellerId} and (kind = 'retail' or state <> 'draft')))`;
}

export interface InvoiceFilter {
  month?: string | undefined;
  client_id?: number | undefined;
  reseller_id?: number | undefined;
  state?: InvoiceRow['state'] | undefined;
  kind?: InvoiceRow['kind'] | undefined;
}

/** Returns invoices, the latest first. */
export async function listInvoices(
  db: Sql,
  sight: MoneySight,
  filter: InvoiceFilter,
  { before, limit }: { before: number | undefined; limit: number },
): Promise<InvoiceRow[]> {
  const said = Object.entries(filter).filter(([, value]) => value !== undefined);
  const conditions = [seenBy(sight), ...said.map(([name, value]) => sql`${sql.ref(name)} = ${value}`)];
  if (before !== undefined) conditions.push(sql`id < ${before}`);
  const { rows } = await sql<InvoiceRow>`
    select * from invoices where ${sql.join(conditions, sql` and `)} order by id desc limit ${limit}`.execute(db);
  return rows;
}

export async function findInvoice(db: Sql, sight: MoneySight, id: number): Promise<InvoiceRow | undefined> {
  const { rows } = await sql<InvoiceRow>`select * from invoices where id = ${id} and ${seenBy(sight)}`.execute(db);
  return rows[0];
}

/** Locks an invoice that is in sight. */
export async function lockInvoice(tx: Transaction, sight: MoneySight, id: number): Promise<InvoiceRow | undefined> {
  const { rows } = await sql<InvoiceRow>`
    select * from invoices where id = ${id} and ${seenBy(sight)} for update`.execute(tx.sql);
  return rows[0];
}

export const linesOf = (db: Sql, invoiceIds: readonly number[]): Promise<LineRow[]> =>
  db
    .selectFrom('invoice_lines')
    .selectAll()
    .where('invoice_id', 'in', invoiceIds)
    .orderBy('line')
    .orderBy('project')
    .orderBy('region_id')
    .orderBy('type')
    .orderBy('sku')
    .execute();

export const creditNotesOf = (db: Sql, invoiceId: number): Promise<CreditNoteRow[]> =>
  db.selectFrom('credit_notes').selectAll().where('invoice_id', '=', invoiceId).orderBy('id').execute();

export const paymentsOf = (db: Sql, invoiceId: number): Promise<PaymentRow[]> =>
  db.selectFrom('payments').selectAll().where('invoice_id', '=', invoiceId).orderBy('id').execute();

/**
 * Takes so many numbers of each issuer and year, and returns the last of them. Others wait for them until the transaction
 * ends; if it fails, nothing is taken, so that no number is missing.
 */
export async function takeNumbers(
  tx: Transaction,
  series: Series,
  year: number,
  counts: ReadonlyMap<number, number>,
): Promise<Map<number, number>> {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const { rows } = await sql<{ issuer_id: number; last: number }>`
    insert into invoice_counters (issuer_id, series, year, last)
    select issuer_id, ${series}, ${year}, count
    from unnest(${sorted.map(([id]) => id)}::bigint[], ${sorted.map(([, count]) => count)}::bigint[])
      as given (issuer_id, count)
    on conflict (issuer_id, series, year) do update set last = invoice_counters.last + excluded.last
    returning issuer_id, last`.execute(tx.sql);
  return new Map(rows.map(({ issuer_id, last }) => [issuer_id, last]));
}

export async function insertCreditNote(
  tx: Transaction,
  note: Omit<CreditNoteRow, 'id' | 'lines' | 'taxes'> & { lines: CreditedLine[]; taxes: TaxSum[] },
): Promise<CreditNoteRow> {
  const row = { ...note, lines: JSON.stringify(note.lines), taxes: JSON.stringify(note.taxes) };
  await sql`
    update invoice_lines set credited = credited + given.amount::numeric
    from jsonb_to_recordset(${row.lines}::jsonb) as given (line integer, amount text)
    where invoice_id = ${note.invoice_id} and invoice_lines.line = given.line`.execute(tx.sql);
  return tx.sql.insertInto('credit_notes').values(row).returningAll().executeTakeFirstOrThrow();
}

export const insertPayment = (tx: Transaction, payment: Omit<PaymentRow, 'id'>): Promise<PaymentRow> =>
  tx.sql.insertInto('payments').values(payment).returningAll().executeTakeFirstOrThrow();

export async function changeInvoice(
  tx: Transaction,
  id: number,
  change: Partial<Pick<InvoiceRow, 'paid' | 'credited' | 'state'>>,
): Promise<void> {
  await tx.sql.updateTable('invoices').set(change).where('id', '=', id).execute();
}

/* What the work on a month writes. */

/** A begun month is worked on until it is done. Months end in UTC. */
export async function beginMonths(tx: Transaction): Promise<void> {
  await sql`
    insert into billed_months (month, stage, next_id)
    select to_char(month, 'YYYY-MM'), 'draft_clients', 0
    from (select date_trunc('month', min(valid_from) at time zone 'UTC') as first from issuer_settings) as begun,
      generate_series(first, date_trunc('month', ${tx.now}::timestamptz at time zone 'UTC') - interval '1 month',
        interval '1 month') as month
    on conflict (month) do nothing`.execute(tx.sql);
}

const endOf = sql`((month || '-01')::timestamp + interval '1 month') at time zone 'UTC'`;

/** SQL: whether something is to be done for a month. */
const isWorkable = (now: Date, graceMs: number) => sql<boolean>`
  stage <> 'done' and (stage like 'draft_%' or (
    ${endOf} + ${graceMs} * interval '1 millisecond' <= ${now} and ${isAllTrafficKnown(endOf, now)}))`;

/** Whether a month has ended that nobody has begun, or there is more to do for one. */
export const isAnyDue = (db: Sql, now: Date, graceMs: number): Promise<boolean> =>
  holds(
    db,
    sql<boolean>`
  exists (select from billed_months where ${isWorkable(now, graceMs)})
  or exists (
    select from issuer_settings
    where valid_from < date_trunc('month', ${now}::timestamptz at time zone 'UTC') at time zone 'UTC'
      and not exists (
        select from billed_months
        where month = to_char(${now}::timestamptz at time zone 'UTC' - interval '1 month', 'YYYY-MM')))`,
  );

/** Locks the first month that has something to do and that no other worker is at. */
export async function lockMonth(tx: Transaction, graceMs: number): Promise<MonthRow | undefined> {
  const { rows } = await sql<MonthRow>`
    select * from billed_months where ${isWorkable(tx.now, graceMs)}
    order by month limit 1 for update skip locked`.execute(tx.sql);
  return rows[0];
}

export async function changeMonth(tx: Transaction, { month, ...change }: MonthRow): Promise<void> {
  await tx.sql.updateTable('billed_months').set(change).where('month', '=', month).execute();
}

export type WrittenInvoice = Omit<InvoiceRow, 'id' | 'paid' | 'credited'>;
export type InvoiceKey = Pick<InvoiceRow, 'id' | 'client_id' | 'reseller_id' | 'currency'>;

/** Writes drafts, or final invoices in their place. What is final stays. */
export async function writeInvoices(tx: Transaction, invoices: readonly WrittenInvoice[]): Promise<InvoiceKey[]> {
  if (invoices.length === 0) return [];
  const { rows } = await sql<InvoiceKey>`
    insert into invoices (kind, issuer_id, reseller_id, client_id, month, currency, state, number, issuer, customer, taxes,
      net, vat, gross, created_at, finalized_at)
    select kind, issuer_id, reseller_id, client_id, month, currency, state, number, issuer, customer, taxes,
      net, vat, gross, created_at, finalized_at
    from jsonb_to_recordset(${JSON.stringify(invoices)}::jsonb) as given (kind text, issuer_id bigint,
      reseller_id bigint, client_id bigint, month text, currency text, state text, number text, issuer jsonb,
      customer jsonb, taxes jsonb, net numeric, vat numeric, gross numeric, created_at timestamptz,
      finalized_at timestamptz)
    on conflict on constraint invoices_once do update set state = excluded.state, number = excluded.number,
      issuer = excluded.issuer, customer = excluded.customer, taxes = excluded.taxes, net = excluded.net,
      vat = excluded.vat, gross = excluded.gross, finalized_at = excluded.finalized_at
    where invoices.state = 'draft'
    returning id, client_id, reseller_id, currency`.execute(tx.sql);
  return rows;
}

export type WrittenLine = Omit<LineRow, 'credited' | 'project_name'>;

/** Writes lines. If they are there already, `add` adds to them; otherwise they are replaced. */
export async function writeLines(
  tx: Transaction,
  invoiceIds: readonly number[],
  lines: readonly WrittenLine[],
  { add }: { add: boolean },
): Promise<void> {
  if (!add) await tx.sql.deleteFrom('invoice_lines').where('invoice_id', 'in', invoiceIds).execute();
  await sql`
    insert into invoice_lines (invoice_id, line, project, project_name, region_id, type, sku, tax_percent,
      reverse_charge, quantity, exact, amount)
    select invoice_id, line, project, coalesce(projects.name, deleted_projects.name), given.region_id, type, sku, tax_percent, reverse_charge, quantity,
      exact, amount
    from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as given (invoice_id bigint, line integer, project bigint,
      region_id bigint, type text, sku text, tax_percent numeric, reverse_charge boolean, quantity numeric,
      exact numeric, amount numeric)
    left join projects on projects.id = given.project
    left join deleted_projects on deleted_projects.id = given.project
    on conflict on constraint invoice_lines_pkey do update
      set quantity = invoice_lines.quantity + excluded.quantity, exact = invoice_lines.exact + excluded.exact`.execute(
    tx.sql,
  );
}

/** Notes the amounts of lines. */
export async function noteAmounts(tx: Transaction, lines: readonly WrittenLine[]): Promise<void> {
  await sql`
    update invoice_lines set line = given.line, amount = given.amount
    from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as given (invoice_id bigint, line integer, project bigint,
      region_id bigint, type text, sku text, tax_percent numeric, reverse_charge boolean, amount numeric)
    where invoice_lines.invoice_id = given.invoice_id and invoice_lines.project = given.project
      and invoice_lines.region_id = given.region_id and invoice_lines.type = given.type and invoice_lines.sku = given.sku
      and invoice_lines.tax_percent = given.tax_percent
      and invoice_lines.reverse_charge = given.reverse_charge`.execute(tx.sql);
}

/** Returns the drafts of wholesale from that ID on. */
export const wholesaleDrafts = (tx: Transaction, month: string, first: number, limit: number): Promise<InvoiceRow[]> =>
  tx.sql
    .selectFrom('invoices')
    .selectAll()
    .where('month', '=', month)
    .where('id', '>=', first)
    .where('kind', '=', 'wholesale')
    .where('state', '=', 'draft')
    .orderBy('id')
    .limit(limit)
    .execute();

/** Lets the wholesale of a month be added up anew. */
export async function emptyWholesale(tx: Transaction, month: string): Promise<void> {
  await sql`
    delete from invoice_lines using invoices
    where invoices.id = invoice_id and month = ${month} and kind = 'wholesale' and state = 'draft'`.execute(tx.sql);
}

/** Removes drafts of a month that is done: nothing is left of them. */
export async function removeDrafts(tx: Transaction, month: string): Promise<void> {
  await tx.sql.deleteFrom('invoices').where('month', '=', month).where('state', '=', 'draft').execute();
}

/** Returns the names of accounts. */
export async function companiesOf(tx: Transaction, clientIds: readonly number[]): Promise<Map<number, string>> {
  const { rows } = await sql<{ id: number; company: string }>`
    select id, company from clients where id = any(${[...clientIds]}::bigint[])`.execute(tx.sql);
  return new Map(rows.map(({ id, company }) => [id, company]));
}

export interface Reseller {
  id: number;
  name: string;
  /** Whether it is the platform administrator's own, which owes itself nothing. */
  is_own: boolean;
  /** Where its users are. */
  account: number | null;
}

export async function resellersOf(tx: Transaction, ids: readonly number[]): Promise<Map<number, Reseller>> {
  const { rows } = await sql<Reseller>`
    select id, name,
      exists (
        select from users join clients on clients.id = users.client_id
        where users.platform_administrator and users.deleted_at is null and clients.reseller_id = resellers.id) as is_own,
      (select min(clients.id) from clients join users on users.client_id = clients.id
        where clients.reseller_id = resellers.id and users.reseller_id = resellers.id
          and clients.deleted_at is null and users.deleted_at is null) as account
    from resellers where id = any(${[...ids]}::bigint[])`.execute(tx.sql);
  return new Map(rows.map((row) => [row.id, row]));
}

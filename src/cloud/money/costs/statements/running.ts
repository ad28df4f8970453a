import { sql } from 'kysely';
import type { Sql } from '../../../../db/database.ts';
import { found } from '../../../../lib/ids.ts';
import type { Platform } from '../../../../platform.ts';
import { allows, moneySeenBy, type Principal } from '../../../../requests/principal.ts';
import { costOf, Exact, type TimedUse } from '../costing.ts';
import type { UsedType } from '../schema.ts';
import type { RunningCosts } from './schema.ts';
import { visibleClients } from './service.ts';

const HOUR = 3_600;
const HOURS_OF_MONTH = 720;

/** Returns what an account has now, and what that costs. @throws NotFoundError, UnavailableError if too many wait */
export async function runningCosts(on: Platform, principal: Principal, clientId: number): Promise<RunningCosts> {
  const { sql: db } = on.database;
  const seen = await visibleClients(db, moneySeenBy(principal), [clientId]);
  const client = found('Client', clientId, seen.has(clientId) ? await findClient(db, clientId) : undefined);
  const prices = await on.rates.of(clientId);
  const terms = allows(principal, 'resell') ? { ...prices.terms, visibility: 'show' as const } : prices.terms;
  const dated = [{ from: on.clock.now(), prices: { ...prices, terms }, resellerId: undefined }];
  const rows = await on.inTurn(() => runningOf(db, clientId));
  let total: InstanceType<typeof Exact> | undefined = new Exact(0);
  const lines = rows.map(({ amounts, type, sku, region_id, ...row }) => {
    const uses = amounts.map(([amount = 0, count = 0]): TimedUse => ({ book: 0, amount, units: count * HOUR }));
    const hour = costOf(dated, { type, sku, region_id }, uses, { rounding: false });
    total = hour.cost === null ? undefined : total?.plus(hour.cost);
    return { region_id, type, kind: sku, ...row, ...rateOf(hour.cost), err: hour.err };
  });
  return {
    client_id: clientId,
    status: client.status,
    suspension_stops_machines: on.suspensionStopsMachines ?? false,
    ...rateOf(total?.toNumber() ?? null),
    currency: terms.currency,
    lines,
  };
}

const rateOf = (hour: number | null) => ({
  price_per_hour: hour,
  price_per_month: hour === null ? null : new Exact(hour).times(HOURS_OF_MONTH).toNumber(),
});

const findClient = (db: Sql, id: number) =>
  db.selectFrom('clients').select('status').where('id', '=', id).executeTakeFirst();

interface Running {
  region_id: number;
  type: UsedType;
  sku: string;
  count: number;
  amount: number;
  machines_on: number | null;
  stops_on_suspension: number | null;
  /** How many have which amount. */
  amounts: number[][];
}

/** Returns what is used of each kind. Nodes of clusters stay when an account is suspended. */
async function runningOf(db: Sql, clientId: number): Promise<Running[]> {
  const { rows } = await sql<Running>`
    with amounts as (
      select used.region_id, used.type, used.sku, used.amount, count(*)::int as count,
        count(*) filter (where vm_state = 'active')::int as on_now,
        count(*) filter (where vm_state = 'active' and pool_id is null)::int as stops
      from usage_periods as used
      left join instances on instances.id = used.resource_id and used.type in ('instance', 'baremetal')
      where used.client_id = ${clientId} and used.ended_at is null
      group by 1, 2, 3, 4
    )
    select region_id, type, sku, sum(count)::int as count, sum(amount * count)::float8 as amount,
      case when type in ('instance', 'baremetal') then sum(on_now)::int end as machines_on,
      case when type in ('instance', 'baremetal') then sum(stops)::int end as stops_on_suspension,
      array_agg(array[amount, count]::float8[]) as amounts
    from amounts group by region_id, type, sku order by region_id, type, sku`.execute(db);
  return rows;
}

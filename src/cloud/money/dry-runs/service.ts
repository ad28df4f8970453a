import { Decimal } from 'decimal.js';
import type { Kind } from '../../../backends/contract/backend.ts';
import type { PortSpec, Specs } from '../../../backends/contract/specs.ts';
import type { Database, Sql } from '../../../db/database.ts';
import { inDependencyOrder } from '../../../lib/lists.ts';
import type { DryRun } from '../../../lib/request-context.ts';
import type { DryRunReport, DryRunReports, DryRunStep } from '../../../requests/dry-run-reports.ts';
import { isBareMetal } from '../../ground/catalog/flavor-schema.ts';
import type { ClientPrices, Rates } from '../../ground/prices/service.ts';
import { usageOf } from '../../ground/quotas/service.ts';
import { priceOfUse, type Use } from '../costs/service.ts';
import { changedFields } from './published-fields.ts';
import type { Sizes } from './store.ts';
import * as store from './store.ts';

export type Used = Omit<Use, 'region_id'>;

/** What has to be looked up for `usesOf`. */
export interface Known {
  publicSubnets: ReadonlySet<string>;
  sizes: ReadonlyMap<string, Sizes>;
}

type UsesOf = { [K in Kind]?: (spec: Specs[K], id: string, known: Known) => Used[] };

/** What costs something of each kind of thing: the same as is metered when it is there. */
const USES: UsesOf = {
  cluster: ({ pools }, _, known) =>
    nodesOf(pools).flatMap(({ flavorId, bootVolume, ports }) => [
      machine(flavorId),
      ...(bootVolume ? [volume(bootVolume.type, bootVolume.sizeGib)] : []),
      ...ports.flatMap((port) => publicAddresses(port, known)),
    ]),
  file_share: ({ type, sizeGib }) => [{ type: 'file_share', sku: type, amount: sizeGib }],
  floating_ip: () => [{ type: 'floatingip', sku: '', amount: 1 }],
  image: sized,
  load_balancer: ({ flavorId }) => [{ type: 'load_balancer', sku: flavorId, amount: 1 }],
  machine: ({ flavorId }) => [machine(flavorId)],
  port: (spec, _, known) => publicAddresses(spec, known),
  snapshot: sized,
  volume: ({ volumeType, sizeGib }) => [volume(volumeType, sizeGib)],
};

/** Returns what a thing in this state uses; nothing if it must not exist. */
export function usesOf(kind: Kind, id: string, spec: object | null | undefined, known: Known): Used[] {
  const uses = USES[kind] as ((spec: object, id: string, known: Known) => Used[]) | undefined;
  return spec && uses ? uses(spec, id, known) : [];
}

export function subnetsOf(kind: Kind, spec: object | null | undefined): string[] {
  return portsOf(kind, spec).flatMap(({ addresses }) => Object.values(addresses).map(({ subnetId }) => subnetId));
}

function portsOf(kind: Kind, spec: object | null | undefined): PortSpec[] {
  if (!spec) return [];
  if (kind === 'port') return [spec as PortSpec];
  if (kind === 'cluster') return nodesOf((spec as Specs['cluster']).pools).flatMap(({ ports }) => ports);
  return [];
}

function nodesOf(pools: Specs['cluster']['pools']) {
  return Object.values(pools).flatMap(({ flavorId, bootVolume, nodes }) =>
    Object.values(nodes).map(({ ports }) => ({ flavorId, bootVolume, ports: Object.values(ports) })),
  );
}

function machine(flavorId: string): Used {
  return { type: isBareMetal(flavorId) ? 'baremetal' : 'instance', sku: flavorId, amount: 1 };
}

function volume(volumeType: string, sizeGib: number): Used {
  return { type: 'volume', sku: volumeType, amount: sizeGib };
}

function publicAddresses({ addresses }: PortSpec, { publicSubnets }: Known): Used[] {
  return Object.entries(addresses)
    .filter(([address, { subnetId }]) => !address.includes(':') && publicSubnets.has(subnetId))
    .map(() => ({ type: 'external_ip', sku: '', amount: 1 }));
}

function sized(_: object, id: string, { sizes }: Known): Used[] {
  const size = sizes.get(id);
  return size ? [size] : [];
}

/** What is wanted of a thing: before, and by the dry run. */
interface Planned extends store.StepRow {
  former: object | null | undefined;
}

export function createDryRunReports(deps: { database: Database; rates: Pick<Rates, 'of'> }): DryRunReports {
  const { database, rates } = deps;

  async function plannedOf(run: DryRun, taskIds: readonly string[]): Promise<Planned[]> {
    const steps = await store.stepsOf(database.sql, taskIds);
    const former = await run.outside(() => store.specsOf(database.sql, steps));
    return steps.map((step) => ({ ...step, former: former.get(`${step.kind}:${step.id}`) }));
  }

  async function priceDifference(prices: ClientPrices, planned: Planned[]) {
    const ids = planned.flatMap(({ kind, id }) => (kind === 'image' || kind === 'snapshot' ? [id] : []));
    const subnets = planned.flatMap(({ kind, spec, former }) => [...subnetsOf(kind, spec), ...subnetsOf(kind, former)]);
    const known = {
      publicSubnets: await store.publicSubnets(database.sql, subnets),
      sizes: await store.sizesOf(database.sql, ids),
    };
    let total: Decimal | null = new Decimal(0);
    const add = (region_id: number, sign: 1 | -1) => (use: Used) => {
      const { price_per_month: price } = priceOfUse(prices, { ...use, region_id });
      total = total && price !== null ? total.plus(new Decimal(price).times(sign)) : null;
    };
    for (const { kind, id, spec, former, region_id } of planned) {
      usesOf(kind, id, spec, known).forEach(add(region_id, 1));
      usesOf(kind, id, former, known).forEach(add(region_id, -1));
    }
    return (total as Decimal | null)?.toNumber() ?? null;
  }

  async function quotaChanges(run: DryRun, clientId: number): Promise<DryRunReport['quotas']> {
    const read = async (db: Sql) =>
      new Map((await usageOf(db, clientId)).map((one) => [`${one.region_id} ${one.attribute}`, one]));
    const after = await read(database.sql);
    const before = await run.outside(() => read(database.sql));
    return [...after].flatMap(([key, { region_id, attribute, number: used }]) => {
      const used_before = before.get(key)?.number ?? 0;
      return used === used_before ? [] : [{ region_id, attribute, used_before, used }];
    });
  }

  return {
    async of({ clientId }, run, taskIds) {
      // Nothing was accepted: all is as it was.
      const open = run.client !== undefined;
      const planned = open && taskIds.length > 0 ? await plannedOf(run, taskIds) : [];
      const tasks = open && taskIds.length > 0 ? await store.tasksOf(database.sql, taskIds) : [];
      const prices = await run.outside(() => rates.of(clientId));
      return {
        tasks: tasks.map(({ id, task_type }) => ({
          type: task_type,
          steps: inOrder(planned.filter((step) => step.task_id === id)).map(stepOf),
        })),
        price_per_month_difference: await priceDifference(prices, planned),
        currency_code: prices.terms.currency,
        quotas: open ? await quotaChanges(run, clientId) : [],
      };
    },
  };
}

/** What a thing needs comes before it. */
const inOrder = (steps: readonly Planned[]): Planned[] =>
  inDependencyOrder(
    steps,
    ({ kind, id }) => `${kind}:${id}`,
    ({ after }) => after,
  );

function stepOf({ kind, id, spec, former }: Planned): DryRunStep {
  if (spec === null) return { action: 'remove', kind, id };
  if (!former) return { action: 'create', kind, id };
  return { action: 'change', kind, id, fields: changedFields(kind, former, spec) };
}

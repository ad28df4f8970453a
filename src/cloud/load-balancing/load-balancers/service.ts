import { isDeepStrictEqual } from 'node:util';
import { change, make, remove } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import * as errors from '../../../lib/errors.ts';
import { foundById, newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import { tagsOf } from '../../../lib/legacy-metadata.ts';
import * as logForwarding from '../../../lib/log-forwarding.ts';
import type { Page } from '../../../lib/page.ts';
import { acceptedTags, patchedTags } from '../../../lib/tags.ts';
import type { Platform, Scope } from '../../../platform.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import { keepTopicOf } from '../../ground/logging/service.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import { exceededQuotas, quotaOwner, takeQuotas } from '../../ground/quotas/service.ts';
import type { Rest, WaitingDeletion } from '../../ground/tasks/behind/service.ts';
import { beginTask, deletionId, removeAgain, wantChecked } from '../../ground/tasks/service.ts';
import * as floatingIps from '../../network/floating-ips/service.ts';
import { floatingIpsOnPorts } from '../../network/floating-ips/service.ts';
import { awayFrom, asInRows as floatingIpsInRows } from '../../network/floating-ips/tasks.ts';
import { lockVip } from '../../network/ports/of-load-balancers/in-transaction.ts';
import { asInRows as portsInRows } from '../../network/ports/tasks.ts';
import type { CreateLoadBalancer } from './creation-schema.ts';
import { defaultFlavor, usableFlavor } from './flavors/flavors.ts';
import { insertListener, listenersProblems, poolProblem, wantedListener } from './listeners/new-listener.ts';
import { rangeFamilyProblems } from './listeners/rules.ts';
import { lockAlsoHeld, lockFreeBalancer } from './locks.ts';
import { insertPools, type MadePools, wantedPool } from './pools/new-pool.ts';
import { presentedBalancer } from './presenter.ts';
import * as schema from './schema.ts';
import * as store from './store.ts';
import { CREATE, DELETE, loadBalancerSpec } from './tasks.ts';
import { changeTree, type Edit, startEdit } from './tree/edits.ts';
import type { OperatingStatus, Statuses } from './tree/operating-status.ts';
import { forestsOf } from './tree/parts.ts';
import { holdTree, insertRows, writeRow } from './tree/store.ts';
import { ADD_TAGS, DELETE_TAG, REPLACE_TAGS, type TreeTask, UPDATE } from './tree/tasks.ts';
import { ALREADY_PUBLIC, isOutside, takeVip, vipProblems, writeVip } from './vip.ts';

/** Returns the logging after a request, and adds its problems to those that are known. */
export function wantedLogging(
  catalog: Catalog,
  { regionId }: Scope,
  balancer: { id: string; logging: logForwarding.LogForwarding | null },
  given: logForwarding.LogForwardingInput | undefined,
  problems: errors.FieldProblem[],
): logForwarding.LogForwarding | null {
  if (!given) return balancer.logging;
  // A name may have letters that a topic can't.
  const wanted = logForwarding.mergedForwarding(balancer.logging, given, `lb-${balancer.id}`);
  const destinationRegionIds = catalog.loggingDestinations(regionId).map(({ region_id }) => region_id);
  problems.push(...logForwarding.loggingProblems(given, wanted, { destinationRegionIds }));
  return wanted;
}

/** Makes sure that the topic exists, if the load balancer logs at all. It stays when logging is switched off. */
export async function keepTopic(
  tx: Transaction,
  { projectId }: Scope,
  logging: logForwarding.LogForwarding | null,
  now: Date,
): Promise<void> {
  const { enabled = false, destination_region_id: regionId, topic_name: name } = logging ?? {};
  if (!enabled || typeof regionId !== 'number' || typeof name !== 'string') return;
  const retentionDays = logging?.retention_policy?.period;
  await keepTopicOf(tx, { projectId, regionId }, { name, retentionDays }, now);
}

/** The listeners that are created with their load balancer, each with its default pool if it has one. */
export type WantedTree = ReturnType<typeof wantedTree>;

/** Adds the problems of the listeners and their pools. */
export function wantedTree(given: CreateLoadBalancer['listeners'] = [], problems: errors.FieldProblem[]) {
  const wanted = given.map(({ pools: [pool] = [], ...listener }, index) => {
    const at = `listeners.${index}.`;
    const one = { listener: wantedListener(listener, at, problems), pool: undefined };
    if (!pool) return one;
    problems.push(...poolProblem(listener, pool.protocol, `${at}pools.0.protocol`));
    return { ...one, pool: wantedPool(pool, `${at}pools.0.`, problems) };
  });
  problems.push(...listenersProblems(wanted.map(({ listener }) => listener)));
  const members = wanted.reduce((sum, { pool }) => sum + (pool?.members.length ?? 0), 0);
  if (members > schema.MOST_IN_ALL.members) {
    const message = `They have ${members} members in all; at most ${schema.MOST_IN_ALL.members} are allowed.`;
    problems.push({ field: 'listeners', message });
  }
  return wanted;
}

/** Writes the tree. Returns the IDs as the task shows them. @throws InvalidError for members that are nowhere */
export async function insertTree(
  tx: Transaction,
  scope: Scope,
  edit: Edit,
  wanted: WantedTree,
): Promise<MadePools & { listeners: string[] }> {
  const made = await insertPools(
    tx,
    scope,
    edit,
    wanted.flatMap(({ pool }) => pool ?? []),
  );
  const poolIds = [...made.pools];
  const listeners: string[] = [];
  for (const [index, { listener, pool }] of wanted.entries()) {
    const defaultPoolId = pool ? (poolIds.shift() ?? null) : null;
    listeners.push(await insertListener(tx, edit, listener, { defaultPoolId, at: `listeners.${index}.` }));
  }
  return { listeners, ...made };
}

type PossibleLoadBalancer = { flavor: string } & Pick<
  CreateLoadBalancer,
  'floating_ip' | 'vip_ip_family' | 'vip_network_id' | 'vip_port_id' | 'vip_subnet_id'
>;

/**
 * Accepts a load balancer, which can be read at once. Returns the ID of the task that makes it work.
 * @throws InvalidError, ConflictError, QuotaExceededError
 */
export async function createLoadBalancer(
  on: Platform,
  scope: Scope,
  request: CreateLoadBalancer,
): Promise<string> {
  const problems = vipProblems(request);
  const id = newId();
  const logging = wantedLogging(on.catalog, scope, { id, logging: null }, request.logging, problems);
  const tree = wantedTree(request.listeners, problems);
  if (problems.length > 0) throw new errors.InvalidError(problems);
  const flavor = request.flavor
    ? usableFlavor(on.catalog, scope.regionId, request.flavor)
    : defaultFlavor(on.catalog, scope.region);
  const tags = tagsOf(request);
  const taskId = newTaskId();
  const now = on.clock.now();
  return on.database.accept(async (tx) => {
    const vip = await takeVip(tx, scope, request);
    const addresses = vip.addresses.map(({ address }) => address);
    const misfits = tree.flatMap(({ listener }, index) =>
      rangeFamilyProblems(listener.allowed_cidrs, addresses, `listeners.${index}.allowed_cidrs`),
    );
    if (misfits.length > 0) throw new errors.InvalidError(misfits);
    tx.about({ type: 'loadbalancer', id, name: request.name });
    const row = {
      id,
      project_id: scope.projectId,
      region_id: scope.regionId,
      provisioning_status: 'PENDING_CREATE',
      creator_task_id: taskId,
      task_id: taskId,
      created_at: now,
      updated_at: now,
      name: request.name,
      flavor,
      flavor_named: request.flavor !== undefined,
      admin_state_up: true,
      preferred_connectivity: request.preferred_connectivity ?? 'L2',
      logging,
      failovers: 0,
      tags,
    };
    await insertRows(tx, 'load_balancers', [row]);
    await writeVip(tx, scope, id, vip, { taskId, now });
    const { edit } = startEdit(tx, row, { id: taskId, now });
    const parts = await insertTree(tx, scope, edit, tree);
    await keepTopic(tx, scope, logging, now);
    const floatingIpIds = vip.floatingIp?.made ? [vip.floatingIp.id] : [];
    await beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE,
      data: withoutUsers(request),
      input: {
        loadBalancerId: id,
        floatingIpIds,
        created: {
          loadbalancers: [id],
          ports: vip.made ? [vip.portId] : [],
          floatingips: floatingIpIds,
          ...parts,
        },
        ...quotaOwner(scope),
      },
      wants: [
        ...(await portsInRows(tx, [vip.portId])),
        ...(await floatingIpsInRows(tx, vip.floatingIp ? [vip.floatingIp.id] : [])),
        make('load_balancer', id, await loadBalancerSpec(tx, id)),
      ],
    });
    await takeQuotas(tx, scope, { floating_count: floatingIpIds.length, loadbalancer_count: 1 });
    return taskId;
  });
}

export async function listLoadBalancers(
  on: Platform,
  scope: Scope,
  query: schema.LoadBalancerListQuery,
): Promise<Page<schema.LoadBalancerAnswer>> {
  const byStatus =
    query.operating_status !== undefined || query.order_by?.startsWith('operating_status') === true;
  const { count, rows } = await store.listBalancers(on.database.sql, scope, query, { paged: !byStatus });
  const statuses = await statusesOf(
    on,
    rows.map(({ id }) => id),
  );
  if (!byStatus) return { count, rows: await presented(on, scope, rows, query, statuses) };
  const matching = rows.filter(
    ({ id }) => query.operating_status === undefined || statuses.get(id) === query.operating_status,
  );
  const sign = query.order_by === 'operating_status.desc' ? -1 : 1;
  if (query.order_by?.startsWith('operating_status')) {
    matching.sort((a, b) => sign * String(statuses.get(a.id)).localeCompare(String(statuses.get(b.id))));
  }
  const { offset = 0, limit = 1000 } = query;
  const page = matching.slice(offset, offset + limit);
  return { count: matching.length, rows: await presented(on, scope, page, query, statuses) };
}

/** @throws NotFoundError */
export async function getLoadBalancer(
  on: Platform,
  scope: Scope,
  id: string,
  show: { stats: boolean } = { stats: false },
): Promise<schema.LoadBalancerAnswer> {
  const row = await foundById('Load balancer', id, () => store.findBalancer(on.database.sql, scope, id));
  const [answer] = await presented(
    on,
    scope,
    [row],
    { show_stats: show.stats },
    await statusesOf(on, [row.id]),
  );
  if (!answer) throw new TypeError('each row is presented');
  return answer;
}

/** Returns the load balancers whose virtual address a port has, by port. */
export async function loadBalancersOnPorts(
  on: Platform,
  scope: Scope,
  portIds: string[],
): Promise<Map<string, schema.LoadBalancerAnswer>> {
  if (portIds.length === 0) return new Map();
  const rows = await store.balancersOnPorts(on.database.sql, scope, portIds);
  const answers = await presented(
    on,
    scope,
    rows,
    {},
    await statusesOf(
      on,
      rows.map(({ id }) => id),
    ),
  );
  return new Map(answers.map((answer) => [answer.vip_port_id ?? '', answer]));
}

/** Returns the task that deletes it with all its parts. @throws NotFoundError, ConflictError */
export const deleteLoadBalancer = (on: Platform, scope: Scope, id: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const balancer = await lockAlsoHeld(tx, scope, id);
    const again = await removeAgain(on, tx, scope, balancer.task_id, DELETE);
    if (again !== undefined) return again;
    refuseHeld(`Load balancer ${balancer.name}`, balancer);
    const taskId = deletionId(scope);
    const vip = await heldVip(tx, balancer.id, taskId);
    const held = { provisioning_status: 'PENDING_DELETE', task_id: taskId };
    await writeRow(tx, 'load_balancers', balancer.id, held);
    await holdTree(tx, balancer.id, taskId);
    await beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE,
      data: { load_balancer_id: balancer.id },
      input: { loadBalancerId: balancer.id, ...quotaOwner(scope) },
      wants: [
        remove('load_balancer', balancer.id),
        ...(vip.reserved ? [] : [...(await awayFrom(tx, [vip.id])), remove('port', vip.id)]),
      ],
    });
    return taskId;
  });

/**
 * Returns how many public IPv4 addresses such a load balancer would take for itself.
 * @throws InvalidError for what can't be, ForbiddenError for a flavor that has run out
 */
export function requirePossibleLoadBalancer(
  on: Platform,
  scope: Scope,
  request: PossibleLoadBalancer,
): { publicAddresses: number } {
  const problems = vipProblems(request);
  const outside = isOutside(request, scope.region);
  if (outside && request.floating_ip) problems.push(ALREADY_PUBLIC);
  if (problems.length > 0) throw new errors.InvalidError(problems);
  usableFlavor(on.catalog, scope.regionId, request.flavor);
  return { publicAddresses: outside && request.vip_ip_family !== 'ipv6' ? 1 : 0 };
}

/** Returns the quotas that such a load balancer would exceed. @throws InvalidError */
export async function loadBalancerQuotaExceeded(
  on: Platform,
  scope: Scope,
  request: schema.CheckLoadBalancerLimits,
): Promise<errors.QuotaExceededError['info'][]> {
  const problems = vipProblems(request);
  wantedLogging(on.catalog, scope, { id: newId(), logging: null }, request.logging, problems);
  if (problems.length > 0) throw new errors.InvalidError(problems);
  const floating_count = request.floating_ip?.source === 'new' ? 1 : 0;
  return exceededQuotas(on.database.sql, scope, { floating_count, loadbalancer_count: 1 });
}

async function statusesOf(on: Platform, ids: string[]): Promise<Statuses> {
  const found = new Map<string, OperatingStatus>();
  for await (const { balancers, statuses } of forestsOf(on.database.sql, ids)) {
    for (const { id } of balancers) found.set(id, statuses.get(id) ?? 'OFFLINE');
  }
  return found;
}

async function presented(
  on: Platform,
  scope: Scope,
  rows: store.ShownLoadBalancer[],
  { show_stats: stats = false }: Pick<schema.LoadBalancerListQuery, 'show_stats'>,
  statuses: Statuses,
): Promise<schema.LoadBalancerAnswer[]> {
  const portIds = rows.flatMap(({ vip }) => vip?.id ?? []);
  const floating = await floatingIpsOnPorts(on, scope, portIds);
  return rows.map((row) =>
    presentedBalancer(row, scope, {
      operating: statuses.get(row.id) ?? 'OFFLINE',
      floatingIps: floating.get(row.vip?.id ?? '') ?? [],
      stats,
    }),
  );
}

/** Holds the floating IPs of a port that goes with its load balancer. */
async function heldVip(tx: Transaction, loadBalancerId: string, taskId: string) {
  const vip = await lockVip(tx, loadBalancerId);
  if (!vip) throw new TypeError('every load balancer has a port');
  // Its task would write to a port that is gone.
  refuseHeld(`Port ${vip.id}`, vip);
  if (!vip.reserved) {
    await floatingIps.hold(tx, [vip.id], { floatings: [], deleteFloatings: false }, taskId);
  }
  return vip;
}

/** Everybody who may read the task sees its parameters, and hashes of passwords are none of their business. */
function withoutUsers({ listeners, ...request }: CreateLoadBalancer): object {
  return { ...request, listeners: listeners?.map(({ user_list: _, ...listener }) => listener) };
}

/** A deletion that may wait for what still uses the thing. */
export const loadBalancerDeletion: WaitingDeletion<Rest<typeof deleteLoadBalancer>> = {
  type: 'delete_loadbalancer',
  remove: deleteLoadBalancer,
  names: ['load_balancer_id'],
  options: [],
};

type Tags = Record<string, string>;

const changeTags = (
  on: Platform,
  scope: Scope,
  task: TreeTask,
  id: string,
  data: object,
  plan: (tags: Tags) => Tags,
) =>
  changeTree(
    on,
    scope,
    task,
    async () => id,
    async (_tx, edit, balancer) => {
      await edit.update('load_balancers', balancer, { tags: plan(balancer.tags) });
      return { data };
    },
  );

/** @throws NotFoundError, InvalidError, ConflictError while a task holds it */
export const updateLoadBalancer = (
  on: Platform,
  scope: Scope,
  id: string,
  request: schema.UpdateLoadBalancer,
): Promise<string> =>
  changeTree(
    on,
    scope,
    UPDATE,
    async () => id,
    async (tx, edit, balancer) => {
      const problems: errors.FieldProblem[] = [];
      const logging = wantedLogging(on.catalog, scope, balancer, request.logging, problems);
      if (problems.length > 0) throw new errors.InvalidError(problems);
      const { name, preferred_connectivity, admin_state_up } = request;
      await edit.update('load_balancers', balancer, {
        name: name ?? balancer.name,
        preferred_connectivity: preferred_connectivity ?? balancer.preferred_connectivity,
        admin_state_up: admin_state_up ?? balancer.admin_state_up,
        tags: patchedTags(balancer.tags, request.tags),
        logging,
      });
      if (!isDeepStrictEqual(logging, balancer.logging)) await keepTopic(tx, scope, logging, tx.now);
      return { data: request };
    },
  );

/** @throws NotFoundError, InvalidError, ConflictError */
export const addLoadBalancerTags = (on: Platform, scope: Scope, id: string, tags: Tags): Promise<string> =>
  changeTags(on, scope, ADD_TAGS, id, { tags }, (current) => patchedTags(current, tags, ''));

/** @throws NotFoundError, InvalidError, ConflictError */
export const replaceLoadBalancerTags = (
  on: Platform,
  scope: Scope,
  id: string,
  tags: Tags,
): Promise<string> => changeTags(on, scope, REPLACE_TAGS, id, { tags }, () => acceptedTags(tags, ''));

/** @throws NotFoundError, also for a tag that isn't there, ConflictError */
export const removeLoadBalancerTag = (on: Platform, scope: Scope, id: string, key: string): Promise<string> =>
  changeTags(on, scope, DELETE_TAG, id, { key }, (current) => {
    const { [key]: removed, ...left } = current;
    if (removed === undefined || !Object.hasOwn(current, key)) throw new errors.NotFoundError('Tag', key);
    return left;
  });

/** Changes tags at once, without a task. */
export const loadBalancerTags: TagHolder = {
  read: async (on, scope, id) => {
    const { tags_v2: tags } = await getLoadBalancer(on, scope, id);
    return { tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])) };
  },
  async change(on, tx, scope, id, plan) {
    const balancer = await lockFreeBalancer(tx, scope, id);
    const tags = plan(balancer.tags);
    await writeRow(tx, 'load_balancers', balancer.id, { tags, updated_at: tx.now });
    await wantChecked(on, tx, scope, [
      change('load_balancer', balancer.id, (spec) => ({ ...spec, metadata: tags })),
    ]);
  },
};

import { Type } from 'typebox';
import type { RequestedLimits } from '../../../../db/json-columns.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { ConflictError, type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { found } from '../../../../lib/ids.ts';
import { type Page, presentedPage } from '../../../../lib/page.ts';
import { noteAccount } from '../../../../lib/request-context.ts';
import { isoSeconds, periodIn } from '../../../../lib/time.ts';
import type { Platform } from '../../../../platform.ts';
import type { Principal } from '../../../../requests/principal.ts';
import { GLOBAL_NAMES, limitField, NO_REGION, REGIONAL_QUOTAS } from '../names.ts';
import { QUOTA_DUTY, refuseOthers } from '../service.ts';
import { changeLimits, type QuotaNumber } from '../store.ts';
import * as schema from './schema.ts';
import type { LimitRequestRow } from './store.ts';
import * as store from './store.ts';

/* What accounts ask the platform administrator for, who sees the requests of all. */

/** Requests of one account that are not decided yet. */
const MOST_OPEN = 20;

const ownerOf = ({ platformAdministrator, clientId }: Principal) => (platformAdministrator ? undefined : clientId);

/** @throws NotFoundError */
export async function getLimitRequest(on: Platform, principal: Principal, id: number): Promise<store.LimitRequestRow> {
  return found('Limit request', id, await store.findRequest(on.database.sql, ownerOf(principal), id));
}

/** @throws InvalidError for an unknown region, or no limit at all; ConflictError for too many open requests */
export async function createLimitRequest(
  on: Platform,
  principal: Principal,
  { description, requested_limits: limits }: schema.CreateLimitRequest,
): Promise<void> {
  const problems = problemsOf(limits, on.catalog.regions);
  if (problems.length > 0) throw new InvalidError(problems);
  await on.database.accept(async (tx) => {
    const { clientId } = principal;
    if ((await store.countOpen(tx, clientId)) >= MOST_OPEN) {
      throw new ConflictError(
        `The account has ${MOST_OPEN} limit requests that are not decided yet, which is the limit; delete one with DELETE /cloud/v2/limits_request/{request_id}`,
      );
    }
    const id = await store.insertRequest(tx, { clientId, description, limits, now: tx.now });
    tx.about({ type: 'quota_limit_request', id });
  });
}

/** @throws InvalidError for a time that no calendar has */
export const listLimitRequests = (
  on: Platform,
  principal: Principal,
  query: schema.LimitRequestListQuery,
): Promise<Page<store.LimitRequestRow>> => {
  const period = periodIn(query, 'created_from', 'created_to');
  return store.listRequests(on.database.sql, ownerOf(principal), { ...query, ...period });
};

/** Grants the limits, or not. @throws ForbiddenError, NotFoundError, ConflictError if that is decided already */
export async function decideLimitRequest(
  on: Platform,
  principal: Principal,
  id: number,
  status: 'done' | 'rejected',
): Promise<store.LimitRequestRow> {
  await getLimitRequest(on, principal, id);
  refuseOthers(principal);
  await on.database.accept(async (tx) => {
    const request = found('Limit request', id, await store.lockRequest(tx, undefined, id));
    tx.about({ type: 'quota_limit_request', id });
    noteAccount(request.client_id);
    if (request.status !== 'in progress') {
      throw new ConflictError(`Limit request ${id} is ${request.status} already`);
    }
    if (status === 'done') await changeLimits(tx, request.client_id, numbersIn(request.requested_limits));
    await store.decideRequest(tx, id, status);
  });
  return getLimitRequest(on, principal, id);
}

/** Limits that were granted stay. @throws NotFoundError */
export async function deleteLimitRequest(on: Platform, principal: Principal, id: number): Promise<void> {
  // Nobody else learns from If-Match that there is one.
  await getLimitRequest(on, principal, id);
  await on.database.accept(async (tx) => {
    const request = found('Limit request', id, await store.lockRequest(tx, ownerOf(principal), id));
    tx.about({ type: 'quota_limit_request', id });
    noteAccount(request.client_id);
    await store.deleteRequest(tx, id);
  });
}

function problemsOf(limits: RequestedLimits, regions: ReadonlyMap<number, unknown>): FieldProblem[] {
  const { regional_limits: regional = [] } = limits;
  const at = (index: number) => `requested_limits.regional_limits.${index}.region_id`;
  const problems = regional.flatMap(({ region_id: id }, index): FieldProblem[] => {
    if (!regions.has(id)) return [{ field: at(index), message: `There is no region ${id}.` }];
    const twice = regional.findIndex((one) => one.region_id === id) < index;
    return twice ? [{ field: at(index), message: `Region ${id} is listed twice.` }] : [];
  });
  const named = [limits.global_limits ?? {}, ...regional.map(({ region_id: _, ...others }) => others)];
  if (problems.length === 0 && named.every((one) => Object.keys(one).length === 0)) {
    return [{ field: 'requested_limits', message: 'Name at least one limit.' }];
  }
  return problems;
}

function numbersIn({ global_limits: global = {}, regional_limits: regional = [] }: RequestedLimits): QuotaNumber[] {
  const named = (quotas: readonly string[], region_id: number, limits: Record<string, number>) =>
    quotas.flatMap((attribute) => {
      const number = limits[limitField(attribute)];
      return number === undefined ? [] : [{ region_id, attribute, number }];
    });
  return [
    ...named(GLOBAL_NAMES, NO_REGION, global),
    ...regional.flatMap((limits) => named(REGIONAL_QUOTAS, limits.region_id, limits)),
  ];
}

const BASE = '/cloud/v2/limits_request';
const ONE = `${BASE}/:request_id`;
/** The published contract answers 201 without a body. */
const NOTHING = Type.Unsafe<undefined>(Type.Null({ description: 'Accepted' }));
const tags = ['Quotas'];

export function limitRequestRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags, params: schema.LimitRequestParams });

  api.post(BASE, 'createLimitRequest', 'Ask for other limits', {
    access: 'administer',
    closedBody: true,
    description: 'The platform administrator decides.',
    body: schema.CreateLimitRequest,
    status: 201,
    answer: NOTHING,
    handler: async ({ principal, body }) => {
      await createLimitRequest(on, principal, body);
      return undefined;
    },
  });

  api.get(BASE, 'listLimitRequests', 'List requests for other limits', {
    description: 'Newest first. The platform administrator sees those of all accounts.',
    query: schema.LimitRequestListQuery,
    answer: schema.LimitRequestList,
    handler: async ({ principal, query }) => presentedPage(await listLimitRequests(on, principal, query), presented),
  });

  api.get(ONE, 'getLimitRequest', 'Get a request for other limits', {
    versioned: { table: 'quota_requests', columns: { request_id: 'id' } },
    answer: schema.LimitRequestAnswer,
    handler: async ({ principal, params }) => presented(await getLimitRequest(on, principal, params.request_id)),
  });

  api.patch(ONE, 'decideLimitRequest', 'Grant or reject a request for other limits', {
    access: 'administer',
    platformDuty: QUOTA_DUTY,
    description: 'Only for the platform administrator. Returns 409 if that is decided already.',
    body: schema.DecideLimitRequest,
    answer: schema.LimitRequestAnswer,
    handler: async ({ principal, params, body }) =>
      presented(await decideLimitRequest(on, principal, params.request_id, body.status)),
  });

  api.delete(ONE, 'deleteLimitRequest', 'Delete a request for other limits', {
    access: 'administer',
    description: 'Limits that were granted stay.',
    handler: ({ principal, params }) => deleteLimitRequest(on, principal, params.request_id),
  });
}

function presented(row: LimitRequestRow): schema.LimitRequestAnswer {
  const { revision: _, ...shown } = row;
  return { ...shown, created_at: isoSeconds(row.created_at), updated_at: isoSeconds(row.updated_at) };
}

import { type ActionResource, ALL_RESOURCES, type ResourceType } from '../lib/resources.ts';
import { type ActionKind, kindOf } from './action-kinds.ts';
import type { NewUserAction } from './action-log.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** Texts from outside are cut to what a reader needs. */
export const MOST_TEXT = 500;

/** The additional fields of the published log. */
type Published = Pick<
  NewUserAction,
  'api_group' | 'action_type' | 'resource_types' | 'resource_ids' | 'resource_names'
>;
/** Of what is not in the published log. */
export const UNPUBLISHED: Published = {
  api_group: null,
  action_type: null,
  resource_types: null,
  resource_ids: null,
  resource_names: null,
};

type Noted = Omit<NewUserAction, 'outcome' | 'status'>;

/** Returns what is recorded of any request. */
export function actionOf(request: IncomingRequest, timestamp: Date): Noted {
  const { principal, params } = request;
  // The values are not validated yet: requests with invalid ones are refused, but recorded all the same.
  const number = (value: string | number | undefined) =>
    /^\d{1,15}$/.test(String(value)) ? Number(value) : null;
  return {
    client_id: principal.clientId,
    user_id: principal.userId,
    token_id: principal.tokenId ?? null,
    request_id: request.id,
    operation: request.operation,
    method: request.method,
    path: request.url.split('?', 1)[0]?.slice(0, MOST_TEXT) ?? '',
    project_id: number(params.project_id),
    region_id: number(params.region_id),
    task_id: null,
    source_user_ip: request.ip,
    user_agent: request.userAgent?.slice(0, MOST_TEXT) ?? null,
    timestamp,
    ...UNPUBLISHED,
  };
}

/** The resource types that path parameters name. */
const NAMED: ReadonlyMap<string, ResourceType> = new Map(
  ALL_RESOURCES.flatMap(([type, { params = [] }]) => params.map((param) => [param, type] as const)),
);

/**
 * Returns an accepted request as the published log shows it; `about` contains the resources that its work
 * reported.
 */
export function publishedAs(request: IncomingRequest, about: readonly ActionResource[]): Published {
  const kind = kindOf(request.method, request.route, request.body());
  if (!kind) return UNPUBLISHED;
  const once = resourcesOf(request, kind, about);
  return {
    api_group: kind.group,
    action_type: kind.type,
    resource_types: once.map(({ type }) => type),
    resource_ids: once.map(({ id }) => String(id)),
    resource_names: once.map(({ name }) => name ?? null),
  };
}

/** Returns what a request is about, the most important first: what its work reported, and what its path names. */
export function resourcesOf(
  request: IncomingRequest,
  kind: Pick<ActionKind, 'resource'>,
  about: readonly ActionResource[],
): ActionResource[] {
  const said = new Set(about.map(({ type }) => type));
  const named = Object.entries(request.params).flatMap(([name, value]): ActionResource[] => {
    const type = NAMED.get(name);
    // Every path contains a project.
    if (type === undefined || said.has(type) || (type === 'project' && kind.resource !== type)) return [];
    return [{ type, id: value, name: name.endsWith('_name') ? String(value) : null }];
  });
  const all = [...about, ...named].map((one) => ({ ...one, id: String(one.id) }));
  const once = [...new Map(all.map((one) => [`${one.type} ${one.id}`, one])).values()];
  once.sort((one, other) => Number(other.type === kind.resource) - Number(one.type === kind.resource));
  return once;
}

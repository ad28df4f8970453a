import type { ActionType, ApiGroup } from '../lib/published-names.ts';
import { type ActionResource, ALL_RESOURCES, type Card, type ResourceType } from '../lib/resources.ts';
import type { NewUserAction } from './action-log.ts';
import type { IncomingRequest } from './incoming-request.ts';

/** How the published log of user actions describes an accepted request. */
export interface ActionKind {
  group: ApiGroup;
  type: ActionType;
  /** The resource that the path names, unless the work itself says what it is about. */
  resource: ResourceType;
}

/** `type` is what a POST to the family's own path does, where that is not `create`. */
type Family = Pick<ActionKind, 'group' | 'resource'> & { type?: ActionType };
const same = (name: ApiGroup & ResourceType): Family => ({ group: name, resource: name });

const byPart = (parts: (of: Card) => readonly string[] | undefined) =>
  ALL_RESOURCES.flatMap(([type, of]) =>
    (parts(of) ?? []).map((part) => [part, same(type as ApiGroup & ResourceType)] as const),
  );

/** What cards say of the last parts of paths. */
const ACTIONS = ALL_RESOURCES.flatMap(([resource, { actions }]) =>
  Object.entries(actions ?? {}).map(([part, action]) => ({ part, resource, ...action })),
);

/** Families by the part of the path after the version. */
const FAMILIES = new Map<string, Family>([
  ...byPart(({ paths }) => paths),
  ['downloadimage', { ...same('image'), type: 'download' }],
  ['reserved_fixed_ips', { group: 'reserved_fixed_ip', resource: 'port' }],
]);

/** Families whose paths are below those of other resources; with the family above where several have the word. */
const INNER = new Map<string, Family>([
  ...byPart(({ below }) => below),
  ...ACTIONS.flatMap(({ part, resource, group }) => (group ? [[part, { group, resource }] as const] : [])),
  ['connected_devices', { group: 'vip_ip_addresses', resource: 'port' }],
]);

const BY_METHOD: Record<string, ActionType | undefined> = {
  POST: 'create',
  PUT: 'replace',
  PATCH: 'update',
  DELETE: 'delete',
};

/** Actions by the last word of the path, and by method where methods differ. */
const VERBS: Record<string, ActionType | typeof BY_METHOD | undefined> = {
  ...Object.fromEntries(ACTIONS.map(({ part, type }) => [part, type])),
  access_rule: { POST: 'create_access_rule', DELETE: 'delete_access_rule' },
  addsecuritygroup: 'attach',
  allow_address_pairs: 'update',
  assign: 'attach',
  attach: 'attach',
  attach_interface: 'attach',
  changeflavor: 'resize',
  connected_devices: { POST: 'attach', PUT: 'replace', PATCH: 'attach' },
  // A reserved address becomes a floating IP, or the reverse.
  convert: 'replace',
  copy: 'create',
  delsecuritygroup: 'detach',
  detach: 'detach',
  detach_interface: 'detach',
  disable_port_security: 'disable_portsecurity',
  enable_port_security: 'enable_portsecurity',
  extend: 'resize',
  failover: 'failover',
  // A deleted node of a cluster is replaced at once.
  instances: { DELETE: 'replace' },
  metadata: { POST: 'update_metadata', PUT: 'replace_metadata', DELETE: 'delete_metadata' },
  metadata_item: { DELETE: 'delete_metadata' },
  powercycle: 'reboot_hard',
  put_into_servergroup: 'put_into_servergroup',
  reboot: 'reboot',
  remove_from_servergroup: 'remove_from_servergroup',
  resize: 'resize',
  resume: 'resume',
  retype: 'retype',
  revert: 'revert',
  start: 'start',
  status: 'update',
  stop: 'stop',
  suspend: 'suspend',
  topics: { PUT: 'create', DELETE: 'delete' },
  unassign: 'detach',
  upgrade: 'upgrade',
  users: 'regenerate_credentials',
};

const BODY_ACTIONS = new Map<unknown, ActionType>([
  ['start', 'start'],
  ['stop', 'stop'],
  ['reboot', 'reboot'],
  ['reboot_hard', 'reboot_hard'],
  ['suspend', 'suspend'],
  ['resume', 'resume'],
]);

// There is one entry per route, and every change looks here.
const known = new Map<string, ActionKind | undefined>();

/** Returns the kind of a request by its route, without a dialect's prefix; undefined if the log has no such kind. */
export function kindOf(method: string, route: string, body?: unknown): ActionKind | undefined {
  const key = `${method} ${route}`;
  if (!known.has(key)) known.set(key, kindOfRoute(method, route));
  const kind = known.get(key);
  if (kind === undefined || !route.endsWith('/action')) return kind;
  const { action, active } = (body ?? {}) as { action?: unknown; active?: unknown };
  if (kind.resource === 'ddos_profile') return { ...kind, type: active === false ? 'deactivate' : 'activate' };
  const type = BODY_ACTIONS.get(action);
  return type && { ...kind, type };
}

function kindOfRoute(method: string, route: string): ActionKind | undefined {
  const [area, , ...words] = route
    .slice(1)
    .split('/')
    .filter((part) => !part.startsWith(':'));
  const outer = area === 'cloud' ? FAMILIES.get(words[0] ?? '') : undefined;
  if (!outer) return undefined;
  const family =
    words
      .slice(1)
      .flatMap((word) => INNER.get(`${words[0]}/${word}`) ?? INNER.get(word) ?? [])
      .at(-1) ?? outer;
  const verb = words.length > 1 ? VERBS[words.at(-1) ?? ''] : undefined;
  const said = typeof verb === 'string' ? verb : (verb?.[method] ?? family.type ?? BY_METHOD[method]);
  return said && { ...family, type: said };
}

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

/** What of a request is recorded, whatever it was about. */
type Recorded = Pick<IncomingRequest, 'id' | 'operation' | 'method' | 'url' | 'params' | 'ip' | 'userAgent'> & {
  principal: Pick<IncomingRequest['principal'], 'clientId' | 'userId' | 'tokenId'>;
};

export function actionOf(request: Recorded, timestamp: Date): Noted {
  const { principal, params } = request;
  // The values are not validated yet: requests with invalid ones are refused, but recorded all the same.
  const number = (value: string | number | undefined) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : null);
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

const NAMED: ReadonlyMap<string, ResourceType> = new Map(
  ALL_RESOURCES.flatMap(([type, { params = [] }]) => params.map((param) => [param, type] as const)),
);

/** Returns an accepted request as the published log shows it; `about` contains the resources that its work reported. */
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

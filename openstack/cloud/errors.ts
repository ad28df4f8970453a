import { Refused, Unavailable, Unsupported } from '../../src/backends/contract/backend.ts';

/** The services of OpenStack that a backend may use, and how people know them. */
export const SERVICES = {
  compute: { types: ['compute'], path: '', name: 'Nova' },
  identity: { types: ['identity'], path: '/v3', name: 'Keystone' },
  image: { types: ['image'], path: '/v2', name: 'Glance' },
  'key-manager': { types: ['key-manager'], path: '/v1', name: 'Barbican' },
  'load-balancer': { types: ['load-balancer'], path: '/v2/lbaas', name: 'Octavia' },
  network: { types: ['network'], path: '/v2.0', name: 'Neutron' },
  volume: { types: ['volumev3', 'block-storage', 'volume'], path: '', name: 'Cinder' },
} as const;
export type Service = keyof typeof SERVICES;

/** After an answer that never came, the work may still be done: nobody looks for its result sooner. */
const UNCLEAR_MS = 15_000;

export const LACKS_RIGHT = "The backend's credentials lack a right: ";

/** A refusal by a service, which another attempt won't change unless something else does. */
export class CloudError extends Refused {
  override readonly name = 'CloudError';
  readonly service: Service;
  readonly status: number;
  /** Such as `SecurityGroupInUse`: only Neutron says it. */
  readonly type: string;
  readonly requestId: string | undefined;

  constructor(service: Service, status: number, { type, message }: Said, requestId: string | undefined) {
    super(`${SERVICES[service].name} refuses it: ${message}`);
    this.service = service;
    this.status = status;
    this.type = type;
    this.requestId = requestId;
  }
}

interface Said {
  type: string;
  message: string;
}

/**
 * The services have several forms of errors: `{NeutronError: {type, message}}`, `{badRequest: {message}}`, `{message, title}`,
 * `{faultstring}` of Octavia, `{title, description}` of Barbican, and text.
 */
function saidIn(body: string, status: number): Said {
  try {
    const parsed = JSON.parse(body) as Record<string, unknown>;
    const inner = Object.values(parsed).find((value) => typeof value === 'object' && value !== null) ?? parsed;
    const { type, ...texts } = inner as Partial<Record<'description' | 'faultstring' | 'message' | 'type', unknown>>;
    const message = texts.message ?? texts.faultstring ?? texts.description;
    return {
      type: typeof type === 'string' ? type : '',
      message: typeof message === 'string' ? plain(message) : `status ${status}`,
    };
  } catch {
    return { type: '', message: plain(body).slice(0, 200) || `status ${status}` };
  }
}

/** Glance answers in HTML now and then. */
const plain = (text: string): string =>
  text
    .split('<')
    .map((part, index) => (index === 0 ? part : part.slice(part.indexOf('>') + 1)))
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A change that was asked for has had no answer that says whether it was done. */
export class Unclear extends Unavailable {}

/** Returns what an answer that says no means for who asked. `changes`: whether the request would have changed something. */
export function failureOf(
  service: Service,
  { status, headers }: Pick<Response, 'headers' | 'status'>,
  body: string,
  changes: boolean,
): Error {
  const said = saidIn(body, status);
  const { name } = SERVICES[service];
  const requestId = headers.get('x-openstack-request-id') ?? undefined;
  if (status === 401) return new Unavailable(`${name} does not accept the backend's credentials`);
  // 501 is final: Octavia's providers can't do some things.
  if (status === 408 || status === 429 || (status >= 500 && status !== 501)) {
    const after = Number(headers.get('retry-after')) * 1_000;
    const retryAfterMs = after > 0 ? after : changes ? UNCLEAR_MS : undefined;
    const Kind = changes && status !== 429 ? Unclear : Unavailable;
    return new Kind(`${name} answers ${status}: ${said.message}`, retryAfterMs ? { retryAfterMs } : {});
  }
  // The second is how Octavia says it.
  const lacksRight = said.type === 'PolicyNotAuthorized' || said.message.startsWith('Policy does not allow');
  if (status === 403 && lacksRight) return new Unsupported(`${LACKS_RIGHT}${said.message}`);
  return new CloudError(service, status, said, requestId);
}

/** Returns what a request that got no answer means. */
export function unreachable(service: Service, error: unknown, changes: boolean): Unavailable {
  const late = error instanceof DOMException && error.name === 'TimeoutError';
  const { name } = SERVICES[service];
  const cause = (error as Error).cause instanceof Error ? ((error as Error).cause as Error) : (error as Error);
  const why = late ? `${name} does not answer` : `${name} can not be reached: ${cause.message}`;
  return changes
    ? new Unclear(why, { cause: error, retryAfterMs: UNCLEAR_MS })
    : new Unavailable(why, { cause: error });
}

const hasStatus = (error: unknown, ...statuses: number[]): error is CloudError =>
  error instanceof CloudError && statuses.includes(error.status);

export const isGone = (error: unknown): boolean => hasStatus(error, 404);

/** Octavia says 400 of what it can't find, and also if the service that has it doesn't answer. */
export const isMissedByOctavia = (error: unknown): error is CloudError =>
  hasStatus(error, 400) &&
  error.service === 'load-balancer' &&
  /(?:Port|Subnet) \S+ not found|Could not retrieve certificate/.test(error.message);

/** For what only administrators may do, and others can do without. */
export function unlessForbidden(error: unknown): void {
  if (!hasStatus(error, 403) && !(error instanceof Unsupported)) throw error;
}

/** For removals: what is gone already is as wanted. */
export function unlessGone(error: unknown): void {
  if (!isGone(error)) throw error;
}

/** Neutron says 409 to these, too, and they don't pass. */
const USED_UP = ['OverQuota', 'IpAddressGenerationFailure', 'ExternalIpAddressExhausted'];

/**
 * Whether something is in a state, or in a use, that doesn't allow it now. Neutron and Nova say 409 then, Cinder 400, and so does
 * Nova for Cinder: of a volume that is already being detached, for example.
 */
export function isInTheWay(error: unknown): boolean {
  if (hasStatus(error, 409)) return !USED_UP.includes(error.type);
  if (!hasStatus(error, 400)) return false;
  if (error.service === 'compute') return error.message.includes('Invalid volume');
  return error.service === 'volume' && /status|state|attach|in[- ]use/i.test(error.message);
}

/** Whether a create was refused because of what is there: this may be what an earlier call has made, or is still making. */
export const isTaken = (error: unknown): boolean =>
  isInTheWay(error) || (hasStatus(error, 400) && /overlap|in use|must be available/.test(error.message));

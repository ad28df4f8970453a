import type { Duplex } from 'node:stream';
import type { Logger } from 'pino';
import { asked } from '../../../../backends/contract/asking.ts';
import type { MachineConsole } from '../../../../backends/contract/backend.ts';
import { ForbiddenError, InvalidError, NotFoundError, TooManyRequestsError } from '../../../../lib/errors.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { requireAccess, requireAddress } from '../../../../requests/principal.ts';
import { findScope } from '../../../ground/projects/service.ts';
import { getInstance, requireState } from '../service.ts';
import { findInfrastructure } from '../store.ts';

/** Each of them holds a connection, and asks the database every few seconds. */
const MOST_OF_ACCOUNT = 10;
const MOST = 200;
const RETRY_SECONDS = 10;
const PURPOSE = 'console';
const GOOD_FOR_MS = 60_000;

/** What a ticket says. It has been signed here, or by another process. */
interface Ticket {
  tokenId?: number;
  loginId?: number;
  project: number;
  region: number;
  instance: string;
  type: string;
  /** As the caller reached us: a browser opens it from a page of that host. */
  host: string;
}

type Log = Pick<Logger, 'info'>;
interface Asked {
  instanceId: string;
  type?: string | undefined;
}

/**
 * Finds the console of an instance that runs.
 * @throws NotFoundError, ConflictError if the instance doesn't run or the infrastructure refuses, UnavailableError,
 * InvalidError if there is no such console
 */
async function findConsole(on: Platform, scope: Scope, { instanceId, type }: Asked, log: Log): Promise<MachineConsole> {
  const instance = await getInstance(on, scope, instanceId);
  requireState(instance, 'have a console', ['active']);
  const { kind, ownerId, handle } = await findInfrastructure(on.database.sql, instance.id);
  const { consoleOf } = on.backends.of(scope.regionId, kind);
  const where = `The infrastructure of region ${scope.region.display_name}`;
  if (!consoleOf) throw new InvalidError({ instance_id: [`${where} has no consoles.`] });
  const ref = { kind, id: ownerId, regionId: scope.regionId, projectId: scope.projectId, handle };
  const question = { machineId: instance.id, ...(type !== undefined && { type }) };
  const found = await asked(log, (call) => consoleOf(ref, question, call));
  if (found) return found;
  const what = type === undefined ? 'no console of this instance' : `no consoles of type ${type}`;
  throw new InvalidError({ console_type: [`${where} has ${what}.`] });
}

/** `base` is the WebSocket address of consoles that are passed on. */
export async function getConsole(
  on: Platform,
  scope: Scope,
  { base, log, ...which }: Asked & { base: URL; log: Log },
): Promise<{ protocol: string; type: string; url: string }> {
  const found = await findConsole(on, scope, which, log);
  const { protocol, type } = found;
  if ('url' in found) return { protocol, type, url: found.url };
  refuseMore(on, scope.clientId);
  const { tokenId, loginId } = scope.principal;
  const claims: Ticket = {
    ...(tokenId !== undefined && { tokenId }),
    ...(loginId !== undefined && { loginId }),
    project: scope.projectId,
    region: scope.regionId,
    instance: which.instanceId,
    type,
    host: base.host,
  };
  const ticket = await on.signedTokens.signTicket(
    PURPOSE,
    { ...claims },
    new Date(on.clock.now().getTime() + GOOD_FOR_MS),
  );
  return { protocol, type, url: `${base}?token=${ticket}` };
}

/** @throws TooManyRequestsError */
function refuseMore({ consoles }: Platform, clientId: number): void {
  const all = [...consoles.values()].reduce((sum, count) => sum + count, 0);
  const full = (consoles.get(clientId) ?? 0) >= MOST_OF_ACCOUNT;
  if (!full && all < MOST) return;
  const message = full ? `Your account looks at ${MOST_OF_ACCOUNT} consoles already` : 'Too many consoles are open';
  throw new TooManyRequestsError(`${message}, which is the most at a time; close one, or try again`, RETRY_SECONDS);
}

export interface Viewer {
  ticket: string;
  address: string;
  /** Of the page, if a browser asks. */
  origin: string | undefined;
  requestId: string;
  log: Logger;
}

/**
 * Admits a client with a ticket. `enter` counts the client until it leaves, and refuses one too many; `stillAllowed` throws
 * once the client has lost the right to the console.
 * @throws UnauthenticatedError, ForbiddenError, and as `findConsole`
 */
export async function admitViewer(on: Platform, { ticket, address, origin, requestId, log }: Viewer) {
  const claims = (await on.signedTokens.readTicket(PURPOSE, ticket)) as unknown as Ticket;
  const { tokenId, loginId, project, region, instance, type, host } = claims;
  if (origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host)) {
    throw new ForbiddenError(`Only pages of ${host} may open this console`);
  }

  async function scopeNow(): Promise<Scope> {
    const principal = await on.authenticator.standing({ tokenId, loginId });
    requireAddress(principal, address);
    const path = '/cloud/v1/instances/:project_id/:region_id/:instance_id/get_console';
    requireAccess(principal, 'operate', () => ({ operation: 'getInstanceConsole', path, projectId: project }));
    if (principal.shutServices?.includes('CLOUD')) throw new ForbiddenError('The service CLOUD is switched off');
    return findScope(on, { principal, requestId, projectId: project, regionId: region });
  }

  async function stillAllowed(): Promise<Scope> {
    const scope = await scopeNow();
    requireState(await getInstance(on, scope, instance), 'have a console', ['active']);
    return scope;
  }

  const { clientId, principal } = await stillAllowed();
  return {
    stillAllowed: async () => void (await stillAllowed()),
    /** Returns how to leave. @throws TooManyRequestsError */
    enter(): () => void {
      refuseMore(on, clientId);
      on.consoles.set(clientId, (on.consoles.get(clientId) ?? 0) + 1);
      log.info(
        { reqId: requestId, client: principal.clientId, user: principal.userId, address, instance },
        'Console opened',
      );
      return () => {
        const left = (on.consoles.get(clientId) ?? 1) - 1;
        if (left === 0) on.consoles.delete(clientId);
        else on.consoles.set(clientId, left);
        log.info({ reqId: requestId, instance }, 'Console closed');
      };
    },
    async open(): Promise<Duplex> {
      const found = await findConsole(on, await scopeNow(), { instanceId: instance, type }, log);
      // It has another one by now.
      if (!('open' in found)) throw new NotFoundError('Console of instance', instance);
      return asked(log, (call) => found.open(call));
    },
  };
}

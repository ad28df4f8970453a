import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/db/database.ts';
import { findRoleByText } from '../../src/iam/identity/schema.ts';
import type { Authenticator } from '../../src/iam/identity/service.ts';
import { putGivenToken } from '../../src/iam/tokens/service.ts';
import { DomainError } from '../../src/lib/errors.ts';
import type { Clock } from '../../src/lib/time.ts';
import { type Principal, parseTokenText, ROLES } from '../../src/requests/principal.ts';
import type { Path, Seed, SeedFile } from './file.ts';
import { createRequests, type KnownOperation, type Requests, type Send } from './requests.ts';

/** Where resources are made, and by whom. */
export interface Place {
  projectId: number;
  /** Unless a resource says otherwise. */
  regionId: number;
  authorization: string;
}

/** `$networks/private` stands for the ID of the network of that name; `$$` for a dollar. */
const REFERENCE = /^\$([a-z0-9_/]+)\/([^/]+)$/;

/** What is in one of these shares its name with what is in another: a field of the body, and a list of the answer. */
const HOLDERS: Readonly<Record<string, string>> = {
  network_id: 'networks',
  volume_id: 'volumes',
  load_balancer_id: 'loadbalancers',
  listener_id: 'listeners',
};
const PAGE = 1_000;

interface Listed {
  id: string | number;
  name?: string;
  [field: string]: unknown;
}

/** Makes the resource of one entry, unless there is one of its name already. */
export async function makeResource(
  { seed, requests }: { seed: Seed; requests: Requests },
  place: Place,
  entry: Record<string, unknown>,
  at: Path,
): Promise<void> {
  const { region = place.regionId, ...rest } = entry;
  const [name, ...more] = Object.keys(rest);
  if (name === undefined || more.length > 0) {
    throw seed.fault(at, 'must have one operation, such as createNetwork, with its body');
  }
  const here = [...at, name];
  if (!Number.isInteger(region)) throw seed.fault([...at, 'region'], 'must be the ID of a region');
  const operation = requests.operations.get(name);
  if (!operation) throw seed.fault(here, 'is no operation of the API; see /docs for their names');
  requireCreation(seed, here, operation);
  const inPlace = (path: string) =>
    path.replace('{project_id}', String(place.projectId)).replace('{region_id}', String(region));

  const body = await resolved(rest[name], here);
  const wanted = nameOf(body);
  if (wanted === undefined) throw seed.fault(here, 'needs a name, by which it is found again');
  const list = listAt(operation.path);
  if (list === undefined) throw seed.fault(here, 'can not be used here: nothing lists what it makes');
  if ((await find(list, wanted, body)) !== undefined) return;
  await requests.post(inPlace(operation.path), place.authorization, body, here);

  /** Newer versions of an operation often have no list of their own. */
  function listAt(path: string): string | undefined {
    return [path, path.replace('/v2/', '/v1/')].find((one) => requests.hasList(one));
  }

  async function find(path: string, wantedName: string, wanted?: unknown): Promise<Listed['id'] | undefined> {
    const isIt = (one: Listed) => one.name === wantedName && !isElsewhere(one, wanted);
    for (let offset = 0; ; offset += PAGE) {
      const query = `limit=${PAGE}&offset=${offset}`;
      const { results } = await requests.get(`${inPlace(path)}?${query}`, place.authorization);
      const found = results.find(isIt);
      if (found || results.length < PAGE) return found?.id;
    }
  }

  async function resolved(value: unknown, where: Path): Promise<unknown> {
    if (typeof value === 'string') return value.startsWith('$$') ? value.slice(1) : referred(value, where);
    if (Array.isArray(value)) return Promise.all(value.map((one, index) => resolved(one, [...where, index])));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).map(
      async ([key, one]) => [key, await resolved(one, [...where, key])] as const,
    );
    return Object.fromEntries(await Promise.all(fields));
  }

  async function referred(text: string, where: Path): Promise<unknown> {
    const [, kind, wantedName = ''] = REFERENCE.exec(text) ?? [];
    if (kind === undefined) return text;
    const path = [
      `/cloud/v1/${kind}/{project_id}/{region_id}`,
      `/cloud/v1/${kind}/{project_id}`,
      `/cloud/v2/${kind}/{project_id}/{region_id}`,
    ].find((one) => requests.hasList(one));
    if (path === undefined) throw seed.fault(where, `there is no list of ${kind}`);
    const id = await find(path, wantedName);
    if (id === undefined) throw seed.fault(where, `there is no ${wantedName} among ${kind}`);
    return id;
  }
}

function requireCreation(seed: Seed, at: Path, { method, path }: KnownOperation): void {
  const others = [...path.matchAll(/\{(\w+)\}/g)].filter(([, name]) => name !== 'project_id' && name !== 'region_id');
  if (method === 'POST' && path.startsWith('/cloud/') && path.includes('{project_id}') && others.length === 0) return;
  throw seed.fault(at, 'makes nothing in a project by a name alone, so it can not be used here');
}

/** Whether something is in another network, load balancer, ... than what is wanted. */
function isElsewhere(one: Listed, body: unknown): boolean {
  const wanted = (body ?? {}) as Record<string, unknown>;
  return Object.entries(HOLDERS).some(([field, list]) => {
    const [is, are] = [one[field], one[list]];
    const holders = Array.isArray(are) ? are.map(({ id }) => id) : typeof is === 'string' ? [is] : [];
    return wanted[field] !== undefined && holders.length > 0 && !holders.includes(wanted[field]);
  });
}

/** Some bodies have their resource in a field. */
function nameOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { name, security_group: group } = body as { name?: unknown; security_group?: { name?: unknown } };
  return [name, group?.name].find((one) => typeof one === 'string');
}

type SeedClient = SeedFile['clients'][number];

export interface Seeding {
  database: Database;
  clock: Clock;
  callers: Pick<SeedCallers, 'headerOf'>;
  send: Send;
}

/**
 * Makes what the file names and what is not there yet, in its order, by the same requests as clients. Nothing is changed
 * or deleted. @throws SettingError for the first thing that is refused; a later start goes on from there
 */
export async function applySeed(deps: Seeding, seed: Seed): Promise<void> {
  const { database, callers, send } = deps;
  const platform = callers.headerOf(await administratorOf(database, undefined));
  const requests = await createRequests(send, seed, platform);
  for (const [index, client] of seed.content.clients.entries()) {
    await applyClient({ ...deps, seed, requests, platform }, client, ['clients', index]);
  }
}

type Applying = Seeding & { seed: Seed; requests: Requests; platform: string };

async function applyClient(deps: Applying, client: SeedClient, at: Path): Promise<void> {
  const { database, callers, requests, platform } = deps;
  const { id: clientId, status } = await clientNamed(deps, client.company, at);
  // Nobody acts in a suspended account, which may be just being deleted.
  if (status === 'paused') return;
  const { users } = await requests.get(`/iam/clients/${clientId}`, platform);
  const known = new Set<string>(users.map(({ email }: { email: string }) => email.toLowerCase()));
  for (const [index, user] of (client.users ?? []).entries()) {
    if (known.has(String(user.username).toLowerCase())) continue;
    await requests.post(`/iam/clients/${clientId}/client-users/create`, platform, user, [...at, 'users', index]);
  }
  const administrator = await administratorOf(database, clientId);
  for (const [index, token] of (client.tokens ?? []).entries()) {
    await applyToken(deps, administrator, token, [...at, 'tokens', index]);
  }
  const authorization = callers.headerOf(administrator);
  for (const [index, project] of (client.projects ?? []).entries()) {
    const here = [...at, 'projects', index];
    const projectId = await projectNamed(deps, authorization, project, here);
    const regionId = await firstRegion(deps);
    for (const [place, entry] of (project.resources ?? []).entries())
      await makeResource(deps, { projectId, regionId, authorization }, entry, [...here, 'resources', place]);
  }
}

async function clientNamed(
  { requests, platform }: Applying,
  company: string,
  at: Path,
): Promise<{ id: number; status?: string }> {
  const query = `companyName=${encodeURIComponent(company)}&deleted=false`;
  const found: { id: number; companyName: string; status: string }[] = await requests.get(
    `/iam/clients?${query}`,
    platform,
  );
  const known = found.filter(({ companyName }) => companyName === company);
  return (
    known.find(({ status }) => status !== 'paused') ??
    known[0] ??
    requests.post('/iam/clients/create', platform, { company }, at)
  );
}

async function projectNamed(
  { requests }: Applying,
  authorization: string,
  { name, description }: { name: string; description?: string },
  at: Path,
): Promise<number> {
  const { results } = await requests.get(`/cloud/v1/projects?name=${encodeURIComponent(name)}`, authorization);
  const [known] = results;
  if (known) return known.id;
  const body = { name, ...(description !== undefined && { description }) };
  return (await requests.post('/cloud/v1/projects', authorization, body, at)).id;
}

async function firstRegion({ requests, platform }: Applying): Promise<number> {
  const { results } = await requests.get('/cloud/v1/regions', platform);
  return Math.min(...results.map(({ id }: { id: number }) => id));
}

async function applyToken(
  { database, clock, seed }: Applying,
  owner: Principal,
  { name, role: text = ROLES.administrators.name, token }: { name: string; role?: string; token: string },
  at: Path,
): Promise<void> {
  const role = findRoleByText(text);
  if (!role) throw seed.fault([...at, 'role'], `there is no role ${text}`);
  const parsed = parseTokenText(token);
  if (!parsed || parsed.id < 1 || parsed.id > MOST_ID || parsed.secret.length < LEAST_SECRET) {
    throw seed.fault(
      [...at, 'token'],
      `must be an ID from 1 to ${MOST_ID}, an underscore, and at least ${LEAST_SECRET} characters`,
    );
  }
  try {
    await database.transaction((tx) =>
      putGivenToken(tx, parsed, {
        client_id: owner.clientId,
        user_id: owner.userId,
        role_id: role.id,
        name,
        description: '',
        expires_at: null,
        created_at: clock.now(),
      }),
    );
  } catch (error) {
    if (error instanceof DomainError) throw seed.fault([...at, 'token'], error.message);
    throw error;
  }
}

/** Higher ones are given by the database. */
const MOST_ID = 999;
const LEAST_SECRET = 16;

/** Returns the rights of an account's administrator, by default of the platform's. */
async function administratorOf({ sql }: Database, clientId: number | undefined): Promise<Principal> {
  let users = sql
    .selectFrom('client_users')
    .innerJoin('users', 'users.id', 'client_users.user_id')
    .select(['users.id', 'client_users.client_id', 'users.client_id as home', 'reseller_id', 'platform_administrator'])
    .where('client_users.role_id', '=', ROLES.administrators.id)
    .where('users.deleted_at', 'is', null)
    .where('users.pending', '=', false)
    .orderBy('users.id');
  users =
    clientId === undefined
      ? users.where('platform_administrator', '=', true)
      : users.where('client_users.client_id', '=', clientId);
  const user = await users.executeTakeFirstOrThrow();
  const isHome = user.home === user.client_id;
  return {
    tokenId: undefined,
    loginId: undefined,
    userId: user.id,
    clientId: user.client_id,
    roleId: ROLES.administrators.id,
    resellerId: isHome ? (user.reseller_id ?? undefined) : undefined,
    platformAdministrator: isHome && user.platform_administrator,
  };
}

/** Callers that only this process knows, while it applies the seed. No token is made for them. */
export interface SeedCallers {
  /** Returns the `Authorization` header of a caller. */
  headerOf(principal: Principal): string;
  authenticator: Authenticator;
  /** Ends all of them. */
  end(): void;
}

export function createSeedCallers(authenticator: Authenticator): SeedCallers {
  const known = new Map<string, Principal>();
  return {
    headerOf(principal) {
      const header = `seed ${randomUUID()}`;
      known.set(header, principal);
      return header;
    },
    authenticator: {
      ...authenticator,
      async authenticate(offered, admit, within) {
        const caller = known.size > 0 && known.get(offered.authorization ?? '');
        return caller || authenticator.authenticate(offered, admit, within);
      },
    },
    end: () => known.clear(),
  };
}

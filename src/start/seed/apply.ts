import type { Database } from '../../db/database.ts';
import { findRoleByText, parseTokenText } from '../../iam/identity/schema.ts';
import { putGivenToken } from '../../iam/tokens/service.ts';
import { DomainError } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time.ts';
import { type Principal, ROLES } from '../../requests/principal.ts';
import type { SeedCallers } from './callers.ts';
import type { Path, Seed, SeedFile } from './file.ts';
import { createRequests, type Requests, type Send } from './requests.ts';
import { makeResource } from './resources.ts';

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
    await requests.post(`/iam/clients/${clientId}/client-users/create`, platform, user, [
      ...at,
      'users',
      index,
    ]);
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
  const { results } = await requests.get(
    `/cloud/v1/projects?name=${encodeURIComponent(name)}`,
    authorization,
  );
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
    .select([
      'users.id',
      'client_users.client_id',
      'users.client_id as home',
      'reseller_id',
      'platform_administrator',
    ])
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

import type { Path, Seed } from './file.ts';
import type { KnownOperation, Requests } from './requests.ts';

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
  const others = [...path.matchAll(/\{(\w+)\}/g)].filter(
    ([, name]) => name !== 'project_id' && name !== 'region_id',
  );
  if (method === 'POST' && path.startsWith('/cloud/') && path.includes('{project_id}') && others.length === 0)
    return;
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

import { type Static, Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import { unlessGone } from '../cloud/errors.ts';
import { idIn, markOf, type Resource, type Site } from '../resource.ts';

/* What load balancers use, in Barbican. It never changes. */

const Text = Type.Union([Type.String(), Type.Null()]);
const Common = { name: Text, status: Type.String(), created: Type.String() };
const Secret = Type.Object({ secret_ref: Type.String(), ...Common });
const Container = Type.Object({ container_ref: Type.String(), ...Common });
const SecretOrContainer = Type.Object({
  secret_ref: Type.Optional(Type.String()),
  container_ref: Type.Optional(Type.String()),
  ...Common,
});
type Stored = Static<typeof SecretOrContainer> & { id: string };

/** Barbican's largest page; the default is 10. */
const PAGE = { limit: '100' };

/** What Octavia reads of a container, and what it is for us. */
const PARTS = { certificate: 'certificate', private_key: 'private_key', intermediates: 'certificate_chain' } as const;
type Part = keyof typeof PARTS;

const asStored = (found: Static<typeof SecretOrContainer>): Stored => ({
  ...found,
  id: found.container_ref ?? found.secret_ref ?? '',
});
/** Barbican names a thing by its address. */
const pathOf = (address: string): string => `/${new URL(address).pathname.split('/').slice(-2).join('/')}`;
const nameOfPart = (ref: Site<'secret'>['ref'], part: Part): string => `${markOf(ref)}-${part}`;

export const secrets: Resource<'secret', Stored> = {
  paceMs: 200,
  async marked({ api, ref }) {
    const name = markOf(ref);
    const [alone, bundles] = await Promise.all([
      api.list('key-manager', '/secrets', Secret, { name }),
      api.list('key-manager', '/containers', Container, { name }),
    ]);
    return [...alone, ...bundles].map(asStored).toSorted((one, other) => one.created.localeCompare(other.created));
  },
  async get(api, address) {
    const found = await api.find('key-manager', pathOf(address), SecretOrContainer);
    return found && asStored(found);
  },
  create: (site, { secrets: parts }) => (parts.payload ? makeSecret(site) : makeBundle(site)),
  change: async () => undefined,
  async remove({ api }, { id }) {
    await api.send('key-manager', 'DELETE', pathOf(id), undefined);
  },
  /** A bundle leaves its parts behind. */
  async forget({ api, ref }) {
    for (const part of Object.keys(PARTS) as Part[])
      for (const { secret_ref } of await api.list('key-manager', '/secrets', Secret, { name: nameOfPart(ref, part) }))
        await api.send('key-manager', 'DELETE', pathOf(secret_ref), undefined).catch(unlessGone);
  },
  observed: () => ({}),
  seen: ({ status }) => status,
  async all(api) {
    const [alone, bundles] = await Promise.all([
      api.list('key-manager', '/secrets', Secret, PAGE),
      api.list('key-manager', '/containers', Container, PAGE),
    ]);
    return [...alone, ...bundles].map(asStored);
  },
  idOf: ({ name }) => idIn(name, 'secret'),
};

const Made = Type.Object({ secret_ref: Type.String() });

function needed(payload: string | undefined): string {
  if (!payload) throw new Refused('Tradewind no longer has the secret');
  return payload;
}

async function store({ api }: Site<'secret'>, name: string, payload: string, how: object): Promise<string> {
  const secret = { name, payload, secret_type: 'opaque', ...how };
  return (await api.send('key-manager', 'POST', '/secrets', secret, Made)).secret_ref;
}

async function makeSecret(site: Site<'secret'>): Promise<Stored> {
  const how = { payload_content_type: 'application/octet-stream', payload_content_encoding: 'base64' };
  return made(await store(site, markOf(site.ref), needed(await site.call.secret('payload')), how));
}

async function makeBundle(site: Site<'secret'>): Promise<Stored> {
  const { api, call, ref } = site;
  const payloads = await Promise.all(
    (Object.entries(PARTS) as [Part, string][]).map(async ([name, of]) => ({ name, payload: await call.secret(of) })),
  );
  // A chain may be empty.
  const given = payloads
    .filter(({ name, payload }) => payload || name !== 'intermediates')
    .map(({ name, payload }) => ({ name, payload: needed(payload) }));
  const secret_refs: { name: Part; secret_ref: string }[] = [];
  for (const { name, payload } of given) {
    const secret_ref = await store(site, nameOfPart(ref, name), payload, { payload_content_type: 'text/plain' });
    secret_refs.push({ name, secret_ref });
  }
  const container = { name: markOf(ref), type: 'certificate', secret_refs };
  const Address = Type.Object({ container_ref: Type.String() });
  return made((await api.send('key-manager', 'POST', '/containers', container, Address)).container_ref);
}

const made = (id: string): Stored => ({ id, name: null, status: 'ACTIVE', created: '' });

import { type Static, type TSchema, Type } from 'typebox';
import type { Kind } from '../../src/backends/contract/backend.ts';
import type { Api } from '../cloud/client.ts';
import { idIn, type Live, markOf, type Resource, type Site } from '../resource.ts';

/** What everything in Neutron has. Our mark is the description: it is the only thing that can be given and searched for in a create. */
export const Common = {
  id: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  created_at: Type.Optional(Type.String()),
};
type Marked = Live & { description: string | null; created_at?: string };

/** Returns what all kinds of Neutron do in the same way. `name` and `plural` are those of its API. */
export function inNeutron<K extends Kind, S extends TSchema>(kind: K, name: string, schema: S, plural = `${name}s`) {
  type L = Static<S> & Marked;
  const path = `/${plural}`;
  const as = plural.replaceAll('-', '_');
  const member = name.replaceAll('-', '_');
  const One = Type.Object({ [member]: schema });
  const oneIn = (answer: unknown) => (answer as Record<string, L>)[member] as L;
  const oldestFirst = (one: L, other: L) => (one.created_at ?? '').localeCompare(other.created_at ?? '');

  return {
    // It does everything at once.
    paceMs: 10,
    async marked({ api, ref }: Pick<Site, 'api' | 'ref'>): Promise<L[]> {
      const project_id = await api.projectId();
      const found = (await api.list('network', path, schema, { description: markOf(ref), project_id }, as)) as L[];
      return found.toSorted(oldestFirst);
    },
    async get(api: Api, externalId: string): Promise<L | undefined> {
      const answer = await api.find('network', `${path}/${externalId}`, One);
      return answer && oneIn(answer);
    },
    async make({ api, ref }: Pick<Site<K>, 'api' | 'ref'>, body: object): Promise<L> {
      return oneIn(await api.send('network', 'POST', path, { [member]: { ...body, description: markOf(ref) } }, One));
    },
    async put(api: Api, { id }: Live, body: object): Promise<void> {
      await api.send('network', 'PUT', `${path}/${id}`, { [member]: body }, One);
    },
    async remove({ api }: Pick<Site<K>, 'api'>, { id }: Live): Promise<void> {
      await api.send('network', 'DELETE', `${path}/${id}`, undefined);
    },
    async all(api: Api): Promise<L[]> {
      return (await api.list('network', path, schema, { project_id: await api.projectId() }, as)) as L[];
    },
    idOf: ({ description }: L) => idIn(description, kind),
  } satisfies Partial<Resource<K, L>> & Record<string, unknown>;
}

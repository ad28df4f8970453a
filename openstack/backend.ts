import { Type } from 'typebox';
import {
  type Backend,
  type Call,
  type ConsoleQuestion,
  type Convergence,
  type Json,
  type Kind,
  type MachineConsole,
  type Ref,
  Refused,
  Unavailable,
} from '../src/backends/contract/backend.ts';
import { holdsData } from '../src/backends/contract/needs.ts';
import type { LoadBalancerSpec, Specs } from '../src/backends/contract/specs.ts';
import type { Api, Client } from './cloud/client.ts';
import { isGone, isInTheWay, isMissedByOctavia, isTaken, SERVICES, Unclear } from './cloud/errors.ts';
import { consoleIn } from './compute/console.ts';
import { machines } from './compute/machines.ts';
import { serverGroups } from './compute/server-groups.ts';
import { inventoryOf, NEEDED, OPTIONAL, type Optional, servicesOf } from './inspection.ts';
import { loadBalancers } from './load-balancing/load-balancers.ts';
import { problemsOf } from './load-balancing/problems.ts';
import { secrets } from './load-balancing/secrets.ts';
import { lostOf } from './mapping.ts';
import { createNames, type Mappings, type Names } from './names.ts';
import { floatingIpsFrom } from './network/floating-ips.ts';
import { networks, subnetsKeeping } from './network/networks.ts';
import { outside } from './network/outlets.ts';
import { ports } from './network/ports.ts';
import { routers } from './network/routers.ts';
import { securityGroups } from './network/security-groups.ts';
import { digestOf, type Live, type Notes, type Resource, type Site } from './resource.ts';
import { images } from './storage/images.ts';
import { snapshots } from './storage/snapshots.ts';
import { volumes } from './storage/volumes.ts';
import { watchOf } from './watching.ts';

/** How soon to try again what the cloud won't do in the present state. */
const IN_THE_WAY = { paceMs: 1_000 };
/** What is said so often in a row takes long: from then on, each pause is longer than the one before, up to the longest. */
const OFTEN = 10;
const LONGER = 1.25;
const SOONER = 3;
const LONGEST_PAUSE_MS = 5_000;
const MOST_LOOKS = 5;
/** After an order whose answer was lost, its result is looked for so long before it is ordered again. */
const UNCLEAR_MS = 15_000;
/** Before something counts as removed: longer than anybody waits for an answer. */
const LONG_UNCLEAR_MS = 60_000;
/** For some minutes: an address that was given up may still belong to what is being removed. */
const MOST_TAKEN = 60;

/** What is noted only until a thing is as wanted. */
const PASSING = ['begunAt', 'attempts', 'failing', 'looks', 'mending', 'orderedAt', 'taken', 'times', 'told'];

/** What is kept with a thing: its ID in the cloud, a digest of what was seen of it, and notes. */
interface Handle {
  id: string;
  seen: string;
  notes: Notes;
}

export interface OpenStackSettings {
  client: Client;
  externalNetwork: string | undefined;
  keptAddresses: number;
  mappings: Mappings;
  /** Which of the services that not every cloud has are used. */
  optional: readonly Optional[];
}

/** The kinds that a cloud is asked for. */
export type CloudKind = Exclude<Kind, 'cluster' | 'ddos_profile' | 'file_share'>;
type Any = Resource<Kind, Live>;

/** Infrastructure in one project of an OpenStack cloud. */
export function createOpenStackBackend(settings: OpenStackSettings): Backend {
  const external = outside(settings.externalNetwork);
  const resources: { [K in CloudKind]?: unknown } = {
    network: networks,
    subnet: subnetsKeeping(settings.keptAddresses, external),
    router: routers,
    port: ports,
    security_group: securityGroups,
    floating_ip: floatingIpsFrom(external),
    volume: volumes,
    snapshot: snapshots,
    image: images,
    server_group: serverGroups,
    machine: machines,
    ...(settings.optional.includes('octavia') && { load_balancer: loadBalancers }),
    ...(settings.optional.includes('barbican') && { secret: secrets }),
  };
  const resourceOf = (kind: Kind): Any | undefined => (resources as Record<string, Any>)[kind];
  const { client } = settings;
  const names: Names = createNames(settings.mappings, lookup);

  async function lookup(api: Api, kind: Kind, id: string): Promise<string | undefined> {
    const mapped = kind === 'network' || kind === 'image' ? mappingOf(kind)[id] : undefined;
    if (mapped !== undefined) return mapped;
    const resource = resourceOf(kind);
    const [first] = resource ? await marked(resource, api, { kind, id } as Ref) : [];
    if (first !== undefined) return first.id;
    // What belongs to the platform has the cloud's own ID in the catalogue.
    return kind === 'network' || kind === 'image' ? (await resource?.get(api, id))?.id : undefined;
  }
  const mappingOf = (kind: 'image' | 'network') => settings.mappings[`${kind}s`];

  /** Some clouds ignore filters and list everything, so each mark is checked again. */
  async function marked(resource: Any, api: Api, ref: Ref): Promise<Live[]> {
    return (await resource.marked({ api, ref })).filter((one) => resource.idOf(one) === ref.id);
  }

  /** Finds the thing by its mark, and else by the ID that the handle has: an operator may have overwritten the mark. */
  async function find(resource: Any, api: Api, ref: Ref): Promise<Live[]> {
    const found = await marked(resource, api, ref);
    if (found.length > 0) return found;
    const id = handleOf(ref)?.id;
    const known = id ? await resource.get(api, id) : undefined;
    return known ? [known] : [];
  }

  async function converge(ref: Ref, spec: Specs[Kind] | null, call: Call): Promise<Convergence<object | null>> {
    const resource = needResource(ref.kind);
    const api = client.on(call);
    const found = await find(resource, api, ref);
    const handle = handleOf(ref);
    const remember = async (notes: Notes) =>
      call.remember?.(asJson({ id: handle?.id ?? '', seen: handle?.seen ?? '', notes }));
    const site: Site = { api, names, ref, call, notes: handle?.notes ?? {}, remember };
    if (spec === null) return absent(resource, site, found);
    if (found.length === 0 && handle?.notes.begunAt === call.generation) return lookForLost(handle);
    if (found.length === 0 && isUnclear(handle, UNCLEAR_MS)) return lookForOrdered(handle);
    const live = found.find(({ id }) => id === handle?.id) ?? found[0];
    const double = found.find((one) => one !== live);
    if (double) {
      await removeOne(resource, site, double);
      return progressing(resource, 'removing a double', handle);
    }
    if (live && resource.observed(live) === null)
      return progressing(resource, 'waiting until the former one is gone', handle);
    if (live) return present(resource, site, live, spec);
    if (call.wasThere && holdsData(ref.kind))
      throw new Refused('It has disappeared from the cloud with everything it held');
    call.signal.throwIfAborted();
    return begin(resource, site, spec);
  }

  async function begin(resource: Any, site: Site, spec: Specs[Kind]): Promise<Convergence<object | null>> {
    const { call, names: known, notes, ref } = site;
    const { orderedAt: _, ...before } = notes;
    const remember = async (now: Notes) => call.remember?.(asJson({ id: '', seen: '', notes: now }));
    await remember({ ...before, orderedAt: Date.now() });
    try {
      const made = await resource.create(site, spec);
      known.know(ref.kind, ref.id, made.id);
      return progressing(resource, 'making', {
        id: made.id,
        seen: '',
        notes: { ...made.notes, begunAt: call.generation },
      });
    } catch (error) {
      if (error instanceof Unclear) throw error;
      // Nothing was made.
      await remember(before);
      const taken = Number(notes.taken ?? 0) + 1;
      if (!isTaken(error)) throw error;
      if (taken > MOST_TAKEN && !(await resource.isPassing?.(site, spec))) throw error;
      return progressing(IN_THE_WAY, (error as Error).message, { id: '', seen: '', notes: { ...before, taken } });
    }
  }

  const lookForOrdered = (handle: Handle) => progressing(IN_THE_WAY, 'looking for what was ordered', handle);

  /**
   * What was begun and can't be found was given up by the cloud, as Cinder does with an image that it can't save. Nova doesn't find
   * a machine for a moment after it has accepted it. If something else is wanted by now, it is begun again.
   */
  function lookForLost(handle: Handle) {
    const looks = Number(handle.notes.looks ?? 0) + 1;
    if (looks > MOST_LOOKS) throw new Refused('The cloud began to make it, and gave it up without saying why');
    return progressing(IN_THE_WAY, 'looking for what was begun', { ...handle, notes: { ...handle.notes, looks } });
  }

  async function present(
    resource: Any,
    site: Site,
    live: Live,
    spec: Specs[Kind],
  ): Promise<Convergence<object | null>> {
    const handle = { id: live.id, seen: digestOf(resource.seen(live)), notes: site.notes };
    site.call.signal.throwIfAborted();
    names.know(site.ref.kind, site.ref.id, live.id);
    try {
      const step = await resource.change(site, live, spec);
      if (!step) return settled(resource, live, handle);
      return progressing(resource, step.doing, { ...handle, notes: { ...site.notes, ...step.notes } });
    } catch (error) {
      if (isInTheWay(error)) return progressing(IN_THE_WAY, (error as Error).message, handle);
      throw error;
    }
  }

  async function absent(resource: Any, site: Site, found: readonly Live[]): Promise<Convergence<null>> {
    const [first] = found;
    const before = handleOf(site.ref);
    if (!first && isUnclear(before, LONG_UNCLEAR_MS)) return lookForOrdered(before);
    if (!first) {
      await resource.forget?.(site, before?.id || undefined);
      return { state: 'settled', observed: null };
    }
    const doing = (await Promise.all(found.map((one) => removeOne(resource, site, one)))).find(
      (why) => why !== undefined,
    );
    const handle = { seen: '', notes: {}, ...before, id: first.id };
    return doing === undefined ? progressing(resource, 'deleting', handle) : progressing(IN_THE_WAY, doing, handle);
  }

  function settled(resource: Any, live: Live, { id, seen, notes }: Handle) {
    const kept = Object.entries(notes).filter(([name]) => !PASSING.includes(name));
    const handle = asJson({ id, seen, notes: Object.fromEntries(kept) });
    return { state: 'settled', observed: resource.observed(live), handle } as const;
  }

  /** Returns what is in the way. */
  async function removeOne(resource: Any, site: Site, live: Live): Promise<string | undefined> {
    try {
      await resource.remove(site, live);
      return undefined;
    } catch (error) {
      if (isGone(error)) return undefined;
      if (isInTheWay(error)) return (error as Error).message;
      throw error;
    }
  }

  function needResource(kind: Kind): Any {
    const resource = resourceOf(kind);
    if (!resource) throw new Refused(`This cloud has no ${kind.replaceAll('_', ' ')}`);
    return resource;
  }

  /** What is known of the cloud's IDs may be out of date: what refers to a thing that is gone is tried once more. */
  async function withFreshNames<T>(call: Call, attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      if (!isGone(error) && !isMissedByOctavia(error)) throw error;
      names.forget();
      return attempt().catch(async (again: unknown) => {
        throw isMissedByOctavia(again) ? await missed(client.on(call), again) : again;
      });
    }
  }

  const kinds = Object.keys(resources) as CloudKind[];
  async function* listOf(kind: CloudKind, call: Parameters<Backend['list']>[0]) {
    const resource = needResource(kind);
    for (const live of await resource.all(client.on(call))) {
      const id = resource.idOf(live);
      if (id === undefined || resource.observed(live) === null) continue;
      yield { kind, id, handle: asJson({ id: live.id, seen: digestOf(resource.seen(live)), notes: {} }) };
    }
  }

  const backend: Backend = {
    problems(kind, spec) {
      if (!resourceOf(kind)) return [{ field: 'name', message: lackOf(kind) }];
      return kind === 'load_balancer' ? problemsOf(spec as LoadBalancerSpec) : [];
    },
    async converge(ref, spec, call) {
      call.signal.throwIfAborted();
      return (await withFreshNames(call, () => converge(ref, spec, call))) as never;
    },
    async observe(ref, call) {
      const resource = needResource(ref.kind);
      const [live] = await find(resource, client.on(call), ref);
      return (live ? resource.observed(live) : null) as never;
    },
    async *list(call) {
      for (const kind of kinds) yield* listOf(kind, call);
    },
    async consoleOf(ref, question: ConsoleQuestion, call): Promise<MachineConsole | undefined> {
      if (ref.kind !== 'machine') return undefined;
      const api = client.on(call);
      const [live] = await find(machines, api, ref);
      return live && consoleIn(api, live.id, question.type);
    },
    health: (call) => troubleOf(client.on(call), [...NEEDED, ...settings.optional.map((name) => OPTIONAL[name])]),
    async inspect(offered, call) {
      const api = client.on(call);
      const { has, lacks } = await servicesOf(api, settings.optional);
      const lost =
        lacks.length > 0 ? [] : lostOf(settings.mappings, offered, await inventoryOf(api, settings.optional));
      return { has, lacks: [...lacks, ...lost] };
    },
    about: () => `the cloud at ${client.authUrl}`,
  };
  return { ...backend, watch: watchOf(kinds, listOf, (handle) => handleOf({ handle })?.seen) };
}

/** Says what goes on. The handle has what was said before, and how often. */
function progressing({ paceMs }: { paceMs: number }, doing: string, handle?: Handle) {
  if (!handle) return { state: 'progressing', doing, askAgainMs: paceMs } as const;
  const { told, times } = handle.notes;
  const again = told === doing ? Number(times) + 1 : 1;
  // What is quick is seen soon: the first looks come after a quarter and half of the pace.
  const growth = LONGER ** Math.max(0, again - OFTEN) / 2 ** Math.max(0, SOONER - again);
  const askAgainMs = Math.min(Math.round(paceMs * growth), LONGEST_PAUSE_MS);
  const notes = { ...handle.notes, told: doing, times: again };
  return { state: 'progressing', doing, askAgainMs, handle: asJson({ ...handle, notes }) } as const;
}

/** Whether the order to make a thing may still have its effect: it had no answer, or who waited for that is gone. */
function isUnclear(handle: Handle | undefined, withinMs: number): handle is Handle {
  return handle?.id === '' && Date.now() - Number(handle.notes.orderedAt ?? 0) < withinMs;
}

const asJson = (handle: Handle): Json => ({ ...handle, notes: { ...handle.notes } });

function handleOf({ handle }: Pick<Ref, 'handle'>): Handle | undefined {
  return typeof handle === 'object' && handle !== null && 'id' in handle ? (handle as unknown as Handle) : undefined;
}

const MAKERS: Partial<Record<Kind, Optional>> = { load_balancer: 'octavia', secret: 'barbican' };

/** Says that the region has none of these things, and how it gets them. */
function lackOf(kind: Kind): string {
  const what = kind.replaceAll('_', ' ');
  const optional = MAKERS[kind];
  if (!optional) return `The cloud of this region has no ${what}s.`;
  const { name } = SERVICES[OPTIONAL[optional]];
  return `This region makes no ${what}s: for that, its operator installs ${name} in the cloud and adds ${optional} to "services" of the backend.`;
}

/** Octavia has the same words if another service is away. They may also have addresses inside the cloud. */
async function missed(api: Api, cause: unknown): Promise<Error> {
  const others = ['network', 'key-manager'] as const;
  const there = await Promise.all(others.map(async (service) => ((await api.has(service)) ? [service] : [])));
  const trouble = await troubleOf(api, there.flat());
  if (trouble !== undefined) return new Unavailable(trouble, { cause });
  return new Refused('Octavia can not read a port, a subnet or a certificate of the load balancer', { cause });
}

/** Asks each service for something small. */
async function troubleOf(api: Api, used: readonly (keyof typeof SMALL)[]): Promise<string | undefined> {
  const asked = await Promise.all(
    used.map(async (service) =>
      (await api.has(service)) ? trial(api, service) : `the cloud has no ${SERVICES[service].name}`,
    ),
  );
  return asked.find((trouble) => trouble !== undefined);
}

const SMALL = {
  compute: ['/servers', { limit: '1' }],
  image: ['/images', { limit: '1' }],
  network: ['/networks', { limit: '1', fields: 'id' }],
  volume: ['/volumes', { limit: '1' }],
  'key-manager': ['/secrets', { limit: '1' }],
  'load-balancer': ['/loadbalancers', { limit: '1' }],
} as const;

async function trial(api: Api, service: keyof typeof SMALL): Promise<string | undefined> {
  const [path, query] = SMALL[service];
  try {
    await api.get(service, path, Type.Unknown(), query);
    return undefined;
  } catch (error) {
    if (error instanceof Refused || error instanceof Unavailable) return error.message;
    throw error;
  }
}

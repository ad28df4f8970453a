import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { createOpenStackBackend } from '../../openstack/backend.ts';
import { type Client, createClient } from '../../openstack/cloud/client.ts';
import { accessIn } from '../../openstack/cloud/clouds.ts';
import type { Backend, Json, Kind, Ref } from '../../src/backends/contract/backend.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';
import { newSamples, type Sample, type Samples } from '../backends/samples.ts';

export const clientOf = (clouds: string): Client => createClient(accessIn(clouds, undefined));

/** In an order in which each finds what it needs. */
export const KINDS = [
  'network',
  'subnet',
  'security_group',
  'router',
  'port',
  'floating_ip',
  'volume',
  'image',
  'snapshot',
  'server_group',
  'machine',
  'secret',
  'load_balancer',
] as const satisfies Kind[];

const MOST_CALLS = 400;
const log = pino({ level: 'silent' });

export const openBackend = (clouds: string, externalNetwork: string, client = clientOf(clouds)): Backend =>
  createOpenStackBackend({
    client,
    externalNetwork,
    keptAddresses: 4,
    mappings: { flavors: {}, images: {}, loadBalancerFlavors: {}, networks: {}, volumeTypes: {} },
    optional: ['barbican', 'octavia'],
  });

/**
 * Makes one thing of each kind, changes it and puts it back, and removes all. `pauseMs` is the longest pause between two looks. Returns what was observed
 * of each thing, and what was said on the way.
 */
export async function runScenario(backend: Backend, externalNetworkId: string, pauseMs: number) {
  const samples = sameSamples(externalNetworkId);
  const handles = new Map<Kind, Json>();
  const told: string[] = [];

  async function bring(kind: Kind, spec: Specs[Kind] | null, wasThere: boolean): Promise<object | null> {
    for (let count = 0; count < MOST_CALLS; count++) {
      const ref: Ref = { kind, id: samples[kind].id, regionId: 1, projectId: 1, handle: handles.get(kind) ?? null };
      const { signal } = new AbortController();
      const secret = async () => 'IyEvYmluL3No';
      const answer = await backend.converge(ref, spec, { signal, generation: 1, wasThere, secret, log });
      if (answer.handle !== undefined) handles.set(kind, answer.handle);
      if (answer.state === 'settled') return answer.observed;
      told.push(`${kind}: ${answer.doing}`);
      await sleep(Math.min(answer.askAgainMs, pauseMs));
    }
    throw new Error(`The ${kind} was not as wanted after ${MOST_CALLS} calls: ${told.at(-1)}`);
  }

  const observed: Partial<Record<Kind, unknown>> = {};
  for (const kind of KINDS) {
    // One port is enough for both: the address of a load balancer is at no machine.
    if (kind === 'load_balancer') await bring('machine', null, true);
    const { spec, changed }: Sample = samples[kind];
    const before = await bring(kind, spec, false);
    const after = await bring(kind, changed, true);
    observed[kind] = [before, after, await bring(kind, spec, true)];
  }
  for (const kind of KINDS.toReversed()) await bring(kind, null, true);
  return { observed, told: [...new Set(told)] };
}

/** Samples that are the same each time, so that the same requests are made. */
function sameSamples(externalNetworkId: string): Samples {
  const text = JSON.stringify(newSamples(undefined, externalNetworkId));
  const named = numbered(text, /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (found, index) =>
    found === externalNetworkId ? found : `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
  );
  const addressed = numbered(named, /198\.19\.\d+\.\d+/g, (_found, index) => `198.19.0.${index + 10}`);
  return JSON.parse(addressed) as Samples;
}

/** Replaces what is found by what its place among all different ones decides. */
function numbered(text: string, pattern: RegExp, name: (found: string, index: number) => string): string {
  const all = [...new Set(text.match(pattern))];
  return text.replaceAll(pattern, (found) => name(found, all.indexOf(found)));
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import { Refused, Unavailable, Unsupported } from '../src/backends/contract/backend.ts';
import type { Api } from './cloud/client.ts';
import { CloudError, LACKS_RIGHT, unlessGone } from './cloud/errors.ts';
import { OPTIONAL, type Optional } from './inspection.ts';
import { busyWith } from './storage/cinder.ts';

/** Of everything that a check makes, so that people who find it know what it was. */
export const CHECK_NAME = 'tradewind-check';
const LOOK_MS = 500;
/** How long Cinder may take to make an empty volume, or to remove it. */
const PATIENCE_MS = 120_000;

const Volume = Type.Object({ id: Type.String(), status: Type.String() });
const One = Type.Object({ volume: Volume });

/** Belongs to no subnet, so that nobody's address is taken. */
const NO_ADDRESS = '0.0.0.0';

/**
 * Makes a network with a port, and a volume of 1 GiB, and removes them.
 * @throws Refused with a sentence about what the credentials may not do, or what the cloud could not; Unavailable
 */
export async function checkRights(
  api: Api,
  { volumeType, externalNetworkId }: { volumeType: string | undefined; externalNetworkId: string },
  signal: AbortSignal,
): Promise<void> {
  await chooseAddress(api, externalNetworkId);
  await withThing(api, 'network', '/networks', { network: { name: CHECK_NAME } }, async (network_id) => {
    await withThing(api, 'network', '/ports', { port: { name: CHECK_NAME, network_id } }, async () => {});
  });
  const volume = { name: CHECK_NAME, size: 1, ...(volumeType !== undefined && { volume_type: volumeType }) };
  await withThing(api, 'volume', '/volumes', { volume }, (id) => untilMade(api, id, signal));
}

/** Which public address somebody gets is ours to say: Neutron allows that only administrators by default. It says so before it looks at the address. */
async function chooseAddress(api: Api, floating_network_id: string): Promise<void> {
  const floatingip = { floating_network_id, floating_ip_address: NO_ADDRESS, description: CHECK_NAME };
  try {
    await api.send('network', 'POST', '/floatingips', { floatingip });
  } catch (error) {
    if (lacksRight(error)) throw new Refused(sentence('choose a floating address', error));
    if (!(error instanceof Refused)) throw error;
  }
}

/** What these services can't do, and say so after they have looked at the rights. */
const IMPOSSIBLE = {
  barbican: ['/secrets', { name: CHECK_NAME, payload: '' }],
  octavia: ['/loadbalancers', { loadbalancer: { name: CHECK_NAME } }],
} as const satisfies Record<Optional, unknown>;

/** Returns why the credentials can't use a service, undefined if they can. It makes nothing. */
export async function whyUnusable(api: Api, name: Optional): Promise<string | undefined> {
  const [path, body] = IMPOSSIBLE[name];
  if (!(await api.has(OPTIONAL[name]))) return `the cloud has no service ${OPTIONAL[name]}`;
  try {
    await api.send(OPTIONAL[name], 'POST', path, body);
  } catch (error) {
    if (lacksRight(error) || error instanceof Unavailable) return (error as Error).message.replace(/\.$/, '');
    if (!(error instanceof Refused)) throw error;
  }
  return undefined;
}

/** Makes a thing, and removes it whatever becomes of `work`. */
async function withThing(
  api: Api,
  service: 'network' | 'volume',
  path: string,
  body: Record<string, object>,
  work: (id: string) => Promise<void>,
): Promise<void> {
  const [kind = ''] = Object.keys(body);
  const Made = Type.Object({ [kind]: Type.Object({ id: Type.String() }) });
  const made = await tried(`make a ${kind}`, () => api.send(service, 'POST', path, body, Made));
  const { id } = (made as Record<string, { id: string }>)[kind] as { id: string };
  try {
    await work(id);
  } catch (error) {
    await remove(api, service, path, id).catch(() => {});
    throw error;
  }
  await remove(api, service, path, id).catch((error: unknown) => {
    throw new Refused(`${sentence(`remove a ${kind}`, error)} Remove ${CHECK_NAME} (${id}) by hand.`);
  });
}

async function remove(api: Api, service: 'network' | 'volume', path: string, id: string): Promise<void> {
  await api.send(service, 'DELETE', `${path}/${id}`, undefined).catch(unlessGone);
}

async function tried<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) throw new Refused(sentence(what, error));
    throw error;
  }
}

const lacksRight = (error: unknown): boolean =>
  error instanceof Unsupported || (error instanceof CloudError && error.status === 403);

function sentence(what: string, error: unknown): string {
  const { message } = error as Error;
  const why = message.replace(LACKS_RIGHT, '').replace(/\.$/, '');
  return lacksRight(error)
    ? `The credentials lack the right to ${what} in this project: ${why}.`
    : `The cloud could not ${what}: ${why}.`;
}

/** Cinder removes no volume that it is making. */
async function untilMade(api: Api, id: string, signal: AbortSignal): Promise<void> {
  const late = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  for (;;) {
    const { volume } = await api.get('volume', `/volumes/${id}`, One);
    if (!(await tried('make a volume', () => busyWith(api, volume)))) return;
    if (late.aborted)
      throw new Refused(
        `Cinder has not made a volume of 1 GiB within ${PATIENCE_MS / 1_000} s: it is ${volume.status}.`,
      );
    await sleep(LOOK_MS);
  }
}

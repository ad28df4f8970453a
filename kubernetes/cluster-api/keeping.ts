import type { Call } from '../../src/backends/contract/backend.ts';
import { applyOne } from '../applying/apply.ts';
import { type Client, type LiveObject, nameOf } from '../applying/client.ts';
import { unlessGone } from '../applying/refusals.ts';
import { includes } from '../includes.ts';
import { hashOf, type KubernetesObject, PREFIX } from '../rendering/objects.ts';

const APPLIED = `${PREFIX}/applied`;

/**
 * Applies an object, unless it was applied like this before and still is so: reading is cheap, whereas each apply
 * passes the webhooks of Cluster API. `live` is what is there, if that was read already.
 */
export async function keep(
  client: Client,
  object: KubernetesObject,
  call: Pick<Call, 'log'>,
  live?: LiveObject,
): Promise<LiveObject> {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [APPLIED]: hashOf(object) };
  const wanted = { ...object, metadata: { ...metadata, annotations } };
  const found = live ?? (await client.get(nameOf(object)));
  return found && includes(found, wanted) ? found : applyOne(client, wanted, call);
}

/** Starts the removal, unless somebody has. */
export async function remove(client: Client, object: LiveObject): Promise<void> {
  if (object.metadata.deletionTimestamp !== undefined) return;
  await client.remove(nameOf(object)).catch(unlessGone(object));
}

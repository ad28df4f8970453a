import type { Call } from '../contract/backend.ts';
import { applyOne } from '../kubernetes/applying/apply.ts';
import { type Client, type LiveObject, nameOf } from '../kubernetes/applying/client.ts';
import { hashOf, type KubernetesObject, PREFIX } from '../kubernetes/rendering/objects.ts';

const APPLIED = `${PREFIX}/applied`;

/**
 * Applies an object, unless it was applied like this before and still is so: reading is cheap, whereas each apply
 * passes the webhooks of Cluster API.
 */
export async function keep(
  client: Client,
  object: KubernetesObject,
  call: Pick<Call, 'log'>,
): Promise<LiveObject> {
  const { metadata } = object;
  const annotations = { ...metadata.annotations, [APPLIED]: hashOf(object) };
  const wanted = { ...object, metadata: { ...metadata, annotations } };
  const live = await client.get(nameOf(object));
  return live && includes(live, wanted) ? live : applyOne(client, wanted, call);
}

/** Whether everything in `part` is in `whole`, in lists of the same length. */
function includes(whole: unknown, part: unknown): boolean {
  if (part === null || typeof part !== 'object') return whole === part;
  if (whole === null || typeof whole !== 'object') return false;
  if (Array.isArray(part) && (!Array.isArray(whole) || whole.length !== part.length)) return false;
  return Object.entries(part).every(([name, value]) =>
    includes((whole as Record<string, unknown>)[name], value),
  );
}

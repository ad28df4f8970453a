import { Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { Api } from '../cloud/client.ts';
import { unlessForbidden } from '../cloud/errors.ts';
import { isLookedAtOften, type Site, type Step } from '../resource.ts';

const Message = Type.Object({ user_message: Type.String(), created_at: Type.String() });

/** States that a volume or snapshot keeps until somebody does something. */
const STEADY = new Set(['available', 'in-use']);

/**
 * Returns what a volume or snapshot is busy with; undefined if it is ready for more.
 * @throws Refused if it has failed
 */
export async function busyWith(api: Api, { id, status }: { id: string; status: string }): Promise<Step | undefined> {
  if (STEADY.has(status)) return undefined;
  if (status.startsWith('error')) throw new Refused(`Cinder ended in the state ${status}: ${await reasonOf(api, id)}`);
  return { doing: status };
}

/** Cinder tells users what went wrong in messages of their own. */
async function reasonOf(api: Api, resource_uuid: string): Promise<string> {
  const messages = await api.list('volume', '/messages', Message, { resource_uuid });
  const latest = messages.toSorted((one, other) => other.created_at.localeCompare(one.created_at))[0];
  return latest?.user_message ?? 'it does not say why';
}

/** Cinder finds by metadata in the notation of Python. */
export const withMark = (mark: string, id: string): { metadata: string } => ({ metadata: `{'${mark}':'${id}'}` });

/** Removes it. A lost order is given again. Cinder takes it only in the state "error", which administrators can set. */
export async function removeFromCinder(
  { api, notes }: Pick<Site, 'api' | 'notes'>,
  kind: 'snapshot' | 'volume',
  { id, status }: { id: string; status: string },
): Promise<void> {
  if (status === 'error_deleting')
    throw new Refused(`Cinder could not delete the ${kind}: an administrator has to, it is ${id} there`);
  const path = `/${kind}s/${id}`;
  if (status === 'deleting') {
    if (!isLookedAtOften(notes, 'deleting')) return;
    const reset = { 'os-reset_status': { status: 'error' } };
    await api.send('volume', 'POST', `${path}/action`, reset).catch(unlessForbidden);
  }
  await api.send('volume', 'DELETE', path, undefined);
}

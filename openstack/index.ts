/* The door of the OpenStack backend: networks, machines and storage in a cloud that exists. */
import type { Call } from '../src/backends/contract/backend.ts';
import { type Api, createClient } from './cloud/client.ts';
import { accessIn } from './cloud/clouds.ts';

export type { Api } from './cloud/client.ts';
export { type CloudNetwork, inventoryOf, OPTIONAL, type Optional, servicesOf } from './inspection.ts';
export { openstack } from './maker.ts';
export { type Fit, type Found, fitOf, mappingsIn, type Wanted } from './mapping.ts';
export { checkRights, whyUnusable } from './rights.ts';

/**
 * Opens a cloud of a clouds.yaml: the one of that name, or its only one.
 * @throws Error that says what is missing in the text
 */
export function openCloud(
  clouds: string,
  name: string | undefined,
  call: Pick<Call, 'log' | 'signal'>,
): { name: string; authUrl: string; api: Api } {
  const access = accessIn(clouds, name);
  return { name: access.name, authUrl: access.authUrl, api: createClient(access).on(call) };
}

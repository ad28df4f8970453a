import type { Foundation } from '../../../foundation.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import { createFloatingIpChanges } from './changes.ts';
import { createFloatingIps } from './service.ts';

export function wireFloatingIps(deps: Foundation & { tasks: Tasks }) {
  const floatingIps = createFloatingIps(deps);
  return { floatingIps, floatingIpChanges: createFloatingIpChanges({ ...deps, find: floatingIps.get }) };
}

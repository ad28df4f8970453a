import type { Foundation } from '../../../foundation.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import { createReservedFixedIps } from './service.ts';
import { createVips } from './vips.ts';

export function wireReservedFixedIps(deps: Foundation & { tasks: Tasks }) {
  return { reservedFixedIps: createReservedFixedIps(deps), vips: createVips(deps) };
}

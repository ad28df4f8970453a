import type { Foundation } from '../../../foundation.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import type { SshKeys } from '../ssh-keys/service.ts';
import { createInstanceChanges } from './changes/service.ts';
import { createInstanceInterfaces } from './interfaces/service.ts';
import { createInstanceMetering } from './metrics/service.ts';
import { createInstanceLimits } from './offers/limits.ts';
import { createInstancePlacement } from './placement/service.ts';
import { createInstances } from './service.ts';

export function wireInstances(deps: Foundation & { tasks: Tasks; sshKeys: SshKeys }) {
  const instances = createInstances(deps);
  const needs = { ...deps, find: instances.get };
  return {
    instances,
    instanceChanges: createInstanceChanges(needs),
    instanceInterfaces: createInstanceInterfaces(needs),
    instancePlacement: createInstancePlacement(deps),
    instanceLimits: createInstanceLimits(deps),
    instanceMetering: createInstanceMetering(needs),
  };
}

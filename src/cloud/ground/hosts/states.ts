/** States of an instance as Nova names them. */

export const INSTANCE_STATUSES = [
  'ACTIVE',
  'BUILD',
  'DELETED',
  'ERROR',
  'HARD_REBOOT',
  'MIGRATING',
  'PASSWORD',
  'PAUSED',
  'REBOOT',
  'REBUILD',
  'RESCUE',
  'RESIZE',
  'REVERT_RESIZE',
  'SHELVED',
  'SHELVED_OFFLOADED',
  'SHUTOFF',
  'SOFT_DELETED',
  'SUSPENDED',
  'UNKNOWN',
  'VERIFY_RESIZE',
] as const;
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

/** The list filter doesn't accept these. */
const NOT_FILTERED: readonly InstanceStatus[] = ['DELETED', 'PASSWORD', 'RESCUE', 'UNKNOWN'];
export const FILTERED_STATUSES = INSTANCE_STATUSES.filter((status) => !NOT_FILTERED.includes(status));

export const VM_STATES = [
  'active',
  'building',
  'deleted',
  'error',
  'paused',
  'rescued',
  'resized',
  'shelved',
  'shelved_offloaded',
  'soft-deleted',
  'stopped',
  'suspended',
] as const;
export type VmState = (typeof VM_STATES)[number];

/** States in which Nova attaches and detaches volumes and interfaces. */
export const ATTACHABLE: readonly VmState[] = ['active', 'paused', 'stopped'];

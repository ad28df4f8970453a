import type { MachineChange, MachineChanges } from '../../cloud/instances/backend.ts';

const MS: Record<MachineChange['kind'], number> = {
  start: 300,
  stop: 300,
  reboot: 400,
  reboot_hard: 400,
  suspend: 300,
  resume: 300,
  resize: 500,
  'attach-interface': 200,
  'detach-interface': 200,
};

/** Machines that are rows. There is nothing to remember of a change: what it makes of a machine is in the row. */
export function simulatedMachineChanges(speed: number): MachineChanges {
  return { apply: async ({ kind }) => ({ settlesInMs: MS[kind] / speed }) };
}

import { type TaskEnd, type TaskType, taskType } from '../../../convergence/task-kind.ts';
import { wantedOf } from '../../../convergence/wants.ts';
import type { Clock } from '../../../lib/clock.ts';
import * as addresses from '../addresses/in-transaction.ts';
import * as portGroups from './groups/in-transaction.ts';
import { changePort, lockPort } from './port-rows.ts';
import { asInRows } from './wanted.ts';
import type { WantedPort } from './wanted-port.ts';

/** Absent fields keep their values. */
interface PortInput extends WantedPort {
  portId: string;
}

export const UPDATE_PORT = taskType<PortInput>('update_port');
export const UPDATE_PAIRS = taskType<PortInput>('update_port_allowed_address_pairs');

/** How changes of ports end: the row gets the wanted values or keeps its own. */
export function portTasks({ clock }: { clock: Clock }): TaskEnd[] {
  const update = (task: TaskType<PortInput>): TaskEnd<PortInput> => ({
    ...task,
    async complete(tx, _task, { portId, portSecurityEnabled, groupIds, pairs, tags, dropped }) {
      // The port may be gone, together with its instance.
      if (!(await lockPort(tx, portId))) return null;
      // Groups and virtual addresses that were deleted meanwhile are no longer wanted.
      const wanted = await wantedOf(tx, 'port', portId);
      const groups = groupIds?.filter((id) => !wanted || id in wanted.groups);
      const kept = pairs?.filter(
        (pair) => !wanted || wanted.addressPairs.some(({ ipAddress }) => ipAddress === pair.ip_address),
      );
      if (groups) await portGroups.replaceGroups(tx, portId, groups);
      await changePort(tx, portId, {
        port_security_enabled: portSecurityEnabled,
        ...(kept && { allowed_address_pairs: JSON.stringify(kept) }),
        tags: JSON.stringify(tags),
        task_id: null,
        updated_at: clock.now(),
      });
      await addresses.releaseSome(tx, portId, dropped);
      return null;
    },
    async abandon(tx, _task, { portId, added }) {
      if (!(await lockPort(tx, portId))) return [];
      await changePort(tx, portId, { task_id: null });
      await addresses.releaseSome(tx, portId, added);
      return asInRows(tx, [portId]);
    },
  });

  return [update(UPDATE_PORT), update(UPDATE_PAIRS)];
}

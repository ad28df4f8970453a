import type { Clock } from '../../lib/clock.ts';
import type { TaskHandler } from '../../workflows/task-handler.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { NetworkBackend } from '../networks/backend.ts';
import { settled } from '../provisioning/settled.ts';
import { changePort, lockPort, replaceGroups } from './port-rows.ts';
import type { WantedPort } from './wanted-port.ts';

export const UPDATE_PORT = 'update_port';
export const UPDATE_PAIRS = 'update_port_allowed_address_pairs';
export const DEADLINE_MS = 10 * 60_000;

/** Absent fields stay as they are. */
export interface PortInput extends WantedPort {
  portId: string;
}

export function portHandlers({
  backend,
  clock,
  addresses,
}: {
  backend: Pick<NetworkBackend, 'put'>;
  clock: Clock;
  addresses: Pick<Addresses, 'releaseSome'>;
}): TaskHandler[] {
  const update = (type: string): TaskHandler<PortInput, null> => ({
    type,
    deadlineMs: DEADLINE_MS,
    async run(run, { portId: id }) {
      return settled(run, 'put', () => backend.put({ kind: 'port', id }));
    },
    async complete(tx, _task, { portId, portSecurityEnabled, groupIds, pairs, tags, dropped }) {
      // It may have gone with its instance.
      if (!(await lockPort(tx, portId))) return null;
      if (groupIds) await replaceGroups(tx, portId, groupIds);
      await changePort(tx, portId, {
        port_security_enabled: portSecurityEnabled,
        ...(pairs && { allowed_address_pairs: JSON.stringify(pairs) }),
        tags: JSON.stringify(tags),
        task_id: null,
        updated_at: clock.now(),
      });
      await addresses.releaseSome(tx, portId, dropped);
      return null;
    },
    async abandon(tx, _task, { portId, added }) {
      if (!(await lockPort(tx, portId))) return;
      await changePort(tx, portId, { task_id: null });
      await addresses.releaseSome(tx, portId, added);
    },
  });

  return [update(UPDATE_PORT), update(UPDATE_PAIRS)];
}

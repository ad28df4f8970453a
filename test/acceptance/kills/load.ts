import { setTimeout as sleep } from 'node:timers/promises';
import { BOOT_VOLUME } from '../../support/boot-volume.ts';
import { createHttpClient } from '../../support/http-client.ts';

/** Clients that write as fast as they are answered, whatever happens to the server. */
export interface Load {
  /** Ids of the acknowledged tasks. */
  tasks: string[];
  /** Answers that no client should get. */
  faults: string[];
  acknowledged(): number;
  stop(): Promise<void>;
}

/**
 * Each client repeats its own cycle: a disk that grows, a machine with it, a group, and then all are deleted.
 */
export function startLoad({
  url,
  token,
  clients,
  mayBeAway = true,
  growing = true,
}: {
  url(): string;
  token: string;
  clients: number;
  /** Whether servers may answer that they are unavailable. */
  mayBeAway?: boolean;
  /** Whether disks grow, which not everything that keeps them can do. */
  growing?: boolean;
}): Load {
  const expected = [400, 403, 404, 409, 429, ...(mayBeAway ? [503] : [])];
  const tasks: string[] = [];
  const faults: string[] = [];
  let acknowledged = 0;
  let over = false;

  /** Returns undefined if the outcome is unknown. */
  async function send(method: string, path: string, body?: object, headers = {}) {
    try {
      const client = createHttpClient(url(), token);
      const answer = await client.request(method, path, { headers, ...(body && { body }) });
      if (answer.status === 200) {
        acknowledged++;
        return answer.body;
      }
      // A used-up quota, or something that is held or deleted.
      if (!expected.includes(answer.status)) faults.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    } catch {
      await sleep(100);
    }
    return undefined;
  }

  async function done(answer: { tasks?: string[] } | string[] | undefined) {
    const [id] = Array.isArray(answer) ? answer : (answer?.tasks ?? []);
    if (id === undefined) return undefined;
    tasks.push(id);
    while (!over) {
      const task = await send('GET', `/cloud/v1/tasks/${id}`, undefined, { prefer: 'wait=1' });
      if (task?.state === 'FINISHED') return task.created_resources ?? {};
      if (task?.state === 'ERROR') return undefined;
      await sleep(30);
    }
    return undefined;
  }

  async function live(name: string): Promise<void> {
    const volume = await done(await send('POST', '/cloud/v1/volumes/1/1', { ...BOOT_VOLUME, name, size: 10 }));
    const [volumeId] = volume?.volumes ?? [];
    if (volumeId === undefined) return;
    if (growing) await done(await send('POST', `/cloud/v1/volumes/1/1/${volumeId}/extend`, { size: 11 }));
    const machine = await done(
      await send('POST', '/cloud/v2/instances/1/1', {
        name,
        flavor: 'g1-standard-1-2',
        interfaces: [{ type: 'external' }],
        volumes: [{ source: 'existing-volume', volume_id: volumeId, delete_on_termination: true }],
      }),
    );
    const [instanceId] = machine?.instances ?? [];
    if (instanceId === undefined) return void (await done(await send('DELETE', `/cloud/v1/volumes/1/1/${volumeId}`)));
    await done(await send('POST', `/cloud/v2/instances/1/1/${instanceId}/action`, { action: 'reboot' }));
    if (Math.random() < 0.8) await done(await send('DELETE', `/cloud/v1/instances/1/1/${instanceId}`));
  }

  const clientsAtWork = Array.from({ length: clients }, async (_, client) => {
    for (let turn = 0; !over; turn++) await live(`client-${client}-${turn}`);
  });
  return {
    tasks,
    faults,
    acknowledged: () => acknowledged,
    async stop() {
      over = true;
      await Promise.all(clientsAtWork);
    },
  };
}

import { BOOT_VOLUME } from '../../test/support/boot-volume.ts';
import { finished } from './finished.ts';
import type { Operation } from './operation.ts';

export const instancePorts: Operation = {
  name: 'List network ports of an instance',
  target: 0.8,
  async prepare(api) {
    const created = await api.call('POST', '/cloud/v2/instances/1/1', {
      name: 'measured',
      flavor: 'g1-standard-2-4',
      interfaces: [{ type: 'external' }],
      volumes: [{ ...BOOT_VOLUME, size: 10, type_name: 'standard' }],
    });
    const [id] = (await finished(api, created)).instances ?? [];
    return { method: 'GET', paths: [`/cloud/v1/instances/1/1/${id}/ports`] };
  },
};

import type { Actions } from './actions.ts';
import { anyOf, pathOf, removeByTask, sharedName } from './common-actions.ts';

export const otherActions: Actions = {
  'create key': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const body = { name: sharedName(worker, 'key') };
      const path = `/cloud/v1/ssh_keys/${scope.project}`;
      const { ok, body: made } = await worker.send('create key', 'POST', path, body);
      if (!ok) return;
      scope.known.keys.set(made.id, { name: made.name });
      worker.made(`${path}/${made.id}`);
    },
  ],
  'share key': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'keys');
      if (id === undefined) return;
      const path = `/cloud/v1/ssh_keys/${scope.project}/${id}`;
      await worker.send('share key', 'PATCH', path, { shared_in_project: worker.random.chance(0.5) });
    },
  ],
  'delete key': [
    2,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'keys');
      if (id === undefined) return;
      const path = `/cloud/v1/ssh_keys/${scope.project}/${id}`;
      const { ok, status } = await worker.send('delete key', 'DELETE', path);
      if (ok) worker.world.ledger.removed(path);
      if (ok || status === 404) scope.known.keys.delete(id);
    },
  ],
  'store secret': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const body = {
        name: sharedName(worker, 'secret'),
        secret_type: 'opaque',
        payload: Buffer.from(worker.mark).toString('base64'),
        payload_content_encoding: 'base64',
        payload_content_type: 'application/octet-stream',
      };
      const answer = await worker.send('store secret', 'POST', `/cloud/v1/secrets${scope.place}`, body);
      await worker.follow(answer, (task) => {
        const [id] = task.created_resources.secrets;
        scope.known.secrets.set(id, {});
        worker.made(pathOf(scope, 'secrets', id));
      });
    },
  ],
  'delete secret': [
    2,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'secrets');
      if (id === undefined) return;
      await removeByTask(worker, 'delete secret', pathOf(scope, 'secrets', id), () => scope.known.secrets.delete(id));
    },
  ],
  'create share': [
    4,
    async (worker) => {
      const scope = worker.scope();
      const network = anyOf(worker, scope, 'networks');
      if (scope.region === 2 && network === undefined) return;
      const body = {
        name: sharedName(worker, 'share'),
        protocol: 'NFS',
        size: 1,
        ...(scope.region === 2 && { network: { network_id: network } }),
      };
      const answer = await worker.send('create share', 'POST', `/cloud/v1/file_shares${scope.place}`, body);
      await worker.follow(
        answer,
        ({
          created_resources: {
            file_shares: [id],
          },
        }) => {
          scope.known.shares.set(id, {});
          worker.made(pathOf(scope, 'file_shares', id));
        },
      );
    },
  ],
  'delete share': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'shares');
      if (id === undefined) return;
      await removeByTask(worker, 'delete share', pathOf(scope, 'file_shares', id), () => scope.known.shares.delete(id));
    },
  ],
  'fill and delete a project': [
    3,
    async (worker) => {
      const { ledger } = worker.world;
      const name = sharedName(worker, 'project');
      const made = await worker.send('create project', 'POST', '/cloud/v1/projects', { name });
      if (!made.ok) return;
      const { id } = made.body;
      const path = `/cloud/v1/projects/${id}`;
      worker.made(path);
      const key = async () => {
        const { ok, body } = await worker.send('key for project', 'POST', `/cloud/v1/ssh_keys/${id}`, {
          name: 'inside',
        });
        if (!ok) return;
        worker.made(`/cloud/v1/ssh_keys/${id}/${body.id}`);
        const own = `/cloud/v1/ssh_keys/${id}/${body.id}`;
        if ((await worker.send('delete key', 'DELETE', own)).ok) ledger.removed(own);
      };
      const volume = async () => {
        const body = { source: 'new-volume', name: 'inside', size: 1 };
        const answer = await worker.send('volume for project', 'POST', `/cloud/v1/volumes/${id}/1`, body);
        await worker.follow(answer, (task) => {
          worker.made(`/cloud/v1/volumes/${id}/1/${task.created_resources.volumes[0]}`);
        });
      };
      const rename = () => worker.send('rename project', 'PATCH', path, { name: sharedName(worker, 'project') });
      const remove = () => removeByTask(worker, 'delete project', path, () => {});
      await Promise.all([remove(), worker.random.chance(0.5) ? key() : volume(), rename(), remove()]);
    },
  ],
  'create AI task': [
    3,
    async (worker) => {
      const body = { task_name: 'transcription', url: 'https://media.example.com/a.mp4' };
      const { ok, body: made } = await worker.send('create AI task', 'POST', '/streaming/ai/tasks', body);
      if (ok) worker.scope().known.aiTasks.set(made.task_id, {});
    },
  ],
  'cancel AI task': [
    3,
    async (worker) => {
      const id = anyOf(worker, worker.scope(), 'aiTasks');
      if (id !== undefined) await worker.send('cancel AI task', 'POST', `/streaming/ai/tasks/${id}/cancel`);
    },
  ],
  'read lists': [
    6,
    async (worker) => {
      const { place } = worker.scope();
      const path = worker.random.one([
        '/cloud/v1/tasks?limit=20',
        `/cloud/v1/tasks${place}/active`,
        `/cloud/v1/instances${place}`,
        `/cloud/v1/volumes${place}`,
        `/cloud/v1/ports${place}`,
        `/cloud/v1/securitygroups${place}`,
        `/cloud/v1/networks${place}`,
        `/cloud/v1/k8s/clusters${place}`,
        '/streaming/ai/tasks?limit=10',
        '/cloud/v1/projects?include_deleted=true',
      ]);
      await worker.send('read lists', 'GET', path);
    },
  ],
  'acknowledge tasks': [
    1,
    async (worker) => {
      await worker.send('acknowledge tasks', 'POST', '/cloud/v1/tasks/acknowledge_all');
    },
  ],
};

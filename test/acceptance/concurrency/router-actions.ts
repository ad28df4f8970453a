import type { Actions } from './actions.ts';
import { anyOf, pathOf, removeByTask, sharedName } from './common-actions.ts';
import type { Scope, Worker } from './world.ts';

function gatewayOf({ random }: Worker) {
  return random.chance(0.6) ? { type: 'default', enable_snat: random.chance(0.5) } : null;
}

async function attachment(worker: Worker, verb: 'attach' | 'detach'): Promise<void> {
  const scope: Scope = worker.scope();
  const [id, subnet_id] = [anyOf(worker, scope, 'routers'), anyOf(worker, scope, 'subnets')];
  if (id === undefined || subnet_id === undefined) return;
  await worker.send(`${verb} router`, 'POST', `${pathOf(scope, 'routers', id)}/${verb}`, { subnet_id });
}

export const routerActions: Actions = {
  'create router': [
    5,
    async (worker) => {
      const scope = worker.scope();
      const subnet = anyOf(worker, scope, 'subnets');
      const body = {
        name: sharedName(worker, 'router'),
        external_gateway_info: gatewayOf(worker),
        ...(worker.random.chance(0.5) && subnet !== undefined && { interfaces: [{ subnet_id: subnet }] }),
      };
      const answer = await worker.send('create router', 'POST', `/cloud/v1/routers${scope.place}`, body);
      await worker.follow(
        answer,
        ({
          created_resources: {
            routers: [id],
          },
        }) => {
          scope.known.routers.set(id, {});
          worker.made(pathOf(scope, 'routers', id));
        },
      );
    },
  ],
  'attach router': [8, (worker) => attachment(worker, 'attach')],
  'detach router': [5, (worker) => attachment(worker, 'detach')],
  'change router by task': [
    4,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'routers');
      if (id === undefined) return;
      const { body: region } = await worker.send('get region', 'GET', `/cloud/v1/regions/${scope.region}`);
      const gateway = { network_id: region.external_network_id, enable_snat: worker.random.chance(0.5) };
      const path = `/cloud/v2/routers${scope.place}/${id}`;
      const external_gateway_info = worker.random.chance(0.5) ? gateway : null;
      const answer = await worker.send('change router by task', 'PATCH', path, { external_gateway_info });
      await worker.follow(answer, () => {});
    },
  ],
  'delete router': [
    3,
    async (worker) => {
      const scope = worker.scope();
      const id = anyOf(worker, scope, 'routers');
      if (id === undefined) return;
      await removeByTask(worker, 'delete router', pathOf(scope, 'routers', id), () => scope.known.routers.delete(id));
    },
  ],
};

import type { Dialect } from '../../http/dialect.ts';
import { hooks } from '../../http/route-hooks.ts';
import type { Api } from '../../http/server.ts';
import type { Tasks } from './service.ts';

/** The types of the tasks of operations that may find that nothing has to change. */
const TYPES: Readonly<Record<string, string>> = {
  actOnDdosProfile: 'update_ddos_profile',
  addLoadBalancerMetadataV2: 'update_lbmetadata',
  deleteLoadBalancerMetadataItemV2: 'delete_lbmetadata',
  replaceL7Rule: 'put_l7rule',
  replaceLoadBalancerMetadataV2: 'replace_lbmetadata',
  replacePoolMembers: 'patch_lbpool',
  resizeLoadBalancer: 'resize_loadbalancer',
  updateDdosProfile: 'update_ddos_profile',
  updateFileShare: 'update_sfs',
  updateFloatingIp: 'update_floating_ip',
  updateHealthMonitor: 'update_lbpool_health_monitor',
  updateKubernetesCluster: 'update_k8s_cluster_v2',
  updateKubernetesClusterV2: 'update_k8s_cluster_v2',
  updateL7Policy: 'update_l7policy',
  updateListener: 'patch_lblistener',
  updateLoadBalancer: 'update_loadbalancer',
  updateNetwork: 'update_network',
  updatePool: 'patch_lbpool',
  updatePoolMember: 'update_lbmember',
  updatePoolV1: 'patch_lbpool',
  updateRouter: 'update_router',
  updateSecurityGroupByTask: 'update_security_group',
};

/**
 * Makes routes that are registered after this answer a task that is FINISHED when nothing has to change: official clients
 * take the first task of every answer that has a list of them.
 */
export function answerWithTask(app: Api, dialect: Dialect, { tasks }: { tasks: Tasks }): void {
  app.addHook('onRoute', (route) => {
    const { response, operationId = '' } = (route.schema ?? {}) as {
      response?: Record<string, unknown>;
      operationId?: string;
    };
    if (response?.['200'] !== dialect.tasksSchema) return;
    const type = TYPES[operationId] ?? 'update';
    route.preSerialization = [
      ...hooks(route.preSerialization),
      async (request, reply, payload) => {
        const answer = payload as { tasks?: unknown[] };
        if (reply.statusCode !== 200 || answer.tasks?.length !== 0 || request.dryRun) return payload;
        const { scope, params } = request;
        const { project_id: _, region_id: __, ...data } = params as Record<string, string>;
        return dialect.tasks([await tasks.doneAlready(scope, { type, data })]);
      },
    ];
  });
}

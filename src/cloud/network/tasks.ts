import type { WingTasks } from '../ground/tasks/behind/service.ts';
import { ddosProfileDeletion, ddosTasks, deleteDdosProfile } from './ddos/service.ts';
import { deleteFloatingIp, floatingIpDeletion } from './floating-ips/service.ts';
import { floatingIpTasks } from './floating-ips/tasks.ts';
import { deleteNetwork, networkDeletion } from './networks/changes.ts';
import { deleteSubnet, subnetDeletion } from './networks/subnets/changes.ts';
import { networkTasks } from './networks/tasks.ts';
import { portTasks } from './ports/tasks.ts';
import { deleteReservedFixedIp, reservedFixedIpDeletion } from './reserved-fixed-ips/service.ts';
import { reservedFixedIpTasks } from './reserved-fixed-ips/tasks.ts';
import { deleteRouter, routerDeletion } from './routers/service.ts';
import { routerTasks } from './routers/tasks.ts';
import { removeRule } from './security-groups/rules/changes.ts';
import { deleteSecurityGroup } from './security-groups/service.ts';

export const NETWORK_TASKS: WingTasks = {
  ends: () => [
    ...networkTasks(),
    ...routerTasks(),
    ...portTasks(),
    ...floatingIpTasks(),
    ...reservedFixedIpTasks(),
    ...ddosTasks(),
  ],
  deletions: [
    ddosProfileDeletion,
    floatingIpDeletion,
    networkDeletion,
    reservedFixedIpDeletion,
    routerDeletion,
    subnetDeletion,
  ],
  removals: {
    floating_ip: deleteFloatingIp,
    network: deleteNetwork,
    subnet: deleteSubnet,
    port: deleteReservedFixedIp,
    router: deleteRouter,
    securitygrouprule: removeRule,
    securitygroup: deleteSecurityGroup,
    ddos_profile: (on, scope, id) => deleteDdosProfile(on, scope, Number(id)),
  },
};

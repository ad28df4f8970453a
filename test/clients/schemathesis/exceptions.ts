/** Reports of schemathesis about correct behaviour. */
export interface Exceptions {
  reason: string;
  check: string;
  /** The class of the failure, and what distinguishes it within its class: here the status. */
  failure: string;
  signature: string;
  operations: string[];
}

/** A request that its schema allows is refused, with a sentence that says why. */
const refused = { check: 'positive_data_acceptance', failure: 'RejectedPositiveData', signature: '400' };

export const EXCEPTIONS: readonly Exceptions[] = [
  {
    ...refused,
    reason: 'What a request names by id, name or token has to be there.',
    operations: [
      'GET /iam/clients/{clientId}/tokens',
      'GET /iam/v2/clients/{clientId}/tokens',
      'PATCH /cloud/v1/reserved_fixed_ips/{project_id}/{region_id}/{port_id}/connected_devices',
      'PATCH /cloud/v2/floatingips/{project_id}/{region_id}/{floating_ip_id}',
      'PATCH /iam/clients/{clientId}',
      'POST /cloud/v1/floatingips/{project_id}/{region_id}',
      'POST /cloud/v1/floatingips/{project_id}/{region_id}/{floating_ip_id}/assign',
      'POST /cloud/v1/images/{project_id}/{region_id}',
      'POST /cloud/v1/instances/{project_id}/{region_id}/available_flavors',
      'POST /cloud/v1/k8s/clusters/{project_id}/{region_id}/check_limits',
      'POST /cloud/v1/k8s/clusters/{project_id}/{region_id}/pools/check_limits',
      'POST /cloud/v1/k8s/clusters/{project_id}/{region_id}/{cluster_name}/pools',
      'POST /cloud/v1/routers/{project_id}/{region_id}',
      'POST /cloud/v1/routers/{project_id}/{region_id}/{router_id}/attach',
      'POST /cloud/v1/routers/{project_id}/{region_id}/{router_id}/detach',
      'POST /cloud/v1/snapshots/{project_id}/{region_id}',
      'POST /cloud/v1/subnets/{project_id}/{region_id}',
      'POST /cloud/v1/tasks/acknowledge',
      'POST /cloud/v1/volumes/{project_id}/{region_id}/{volume_id}/attach',
      'POST /cloud/v1/volumes/{project_id}/{region_id}/{volume_id}/detach',
      'POST /cloud/v2/k8s/clusters/{project_id}/{region_id}/check_limits',
      'POST /cloud/v2/k8s/clusters/{project_id}/{region_id}/pools/check_limits',
      'POST /cloud/v2/k8s/clusters/{project_id}/{region_id}/{cluster_name}/pools',
      'POST /cloud/v2/volumes/{project_id}/{region_id}/{volume_id}/attach',
      'POST /cloud/v2/volumes/{project_id}/{region_id}/{volume_id}/detach',
      'POST /iam/admin/free_features',
      'POST /iam/admin/paid_features',
      'POST /iam/auth/accept_invitation',
      'POST /iam/auth/jwt/login',
      'PUT /cloud/v1/reserved_fixed_ips/{project_id}/{region_id}/{port_id}/connected_devices',
      'PUT /iam/clients/{clientId}/client-users/{userId}',
    ],
  },
  {
    ...refused,
    reason:
      "Fields that need each other or exclude each other: as a schema they would be unions that generated clients can't use.",
    operations: [
      'GET /cloud/v1/instances/{project_id}/{region_id}',
      'PATCH /cloud/v1/laas/{project_id}/{region_id}/status',
      'PATCH /cloud/v1/ports/{project_id}/{region_id}/{port_id}',
      'PATCH /cloud/v2/security_groups/{project_id}/{region_id}/{group_id}',
      'POST /cloud/v1/file_shares/{project_id}/{region_id}',
      'POST /cloud/v1/instances/{project_id}/{region_id}/{instance_id}/addsecuritygroup',
      'POST /cloud/v1/instances/{project_id}/{region_id}/{instance_id}/attach_interface',
      'POST /cloud/v1/instances/{project_id}/{region_id}/{instance_id}/delsecuritygroup',
      'POST /cloud/v1/k8s/clusters/{project_id}/{region_id}',
      'POST /cloud/v1/pricing/{project_id}/{region_id}/volumes',
      'POST /cloud/v1/securitygroups/{project_id}/{region_id}',
      'POST /cloud/v1/securitygroups/{project_id}/{region_id}/{group_id}/rules',
      'POST /cloud/v2/instances/{project_id}/{region_id}',
      'POST /cloud/v2/instances/{project_id}/{region_id}/check_limits',
      'POST /cloud/v2/k8s/clusters/{project_id}/{region_id}',
      'POST /cloud/v2/pricing/{project_id}/{region_id}/k8s/clusters',
      'POST /cloud/v2/security_groups/{project_id}/{region_id}',
      'POST /cloud/v2/security_groups/{project_id}/{region_id}/{group_id}/rules',
      'PUT /cloud/v1/securitygrouprules/{project_id}/{region_id}/{rule_id}',
    ],
  },
  {
    ...refused,
    reason:
      'What is wanted has to suit what is there: a larger size, another flavor, a later version, an address nobody has, a next hop in reach, a time to come.',
    operations: [
      'PATCH /cloud/v1/k8s/clusters/{project_id}/{region_id}/{cluster_name}',
      'PATCH /cloud/v1/k8s/clusters/{project_id}/{region_id}/{cluster_name}/pools/{pool_name}',
      'PATCH /cloud/v2/k8s/clusters/{project_id}/{region_id}/{cluster_name}',
      'PATCH /cloud/v2/k8s/clusters/{project_id}/{region_id}/{cluster_name}/pools/{pool_name}',
      'PATCH /cloud/v1/routers/{project_id}/{region_id}/{router_id}',
      'PATCH /cloud/v2/routers/{project_id}/{region_id}/{router_id}',
      'PATCH /iam/users/{userId}',
      'POST /cloud/v1/file_shares/{project_id}/{region_id}/{file_share_id}/extend',
      'POST /cloud/v1/instances/{project_id}/{region_id}/{instance_id}/changeflavor',
      'POST /cloud/v1/k8s/clusters/{project_id}/{region_id}/{cluster_name}/upgrade',
      'POST /cloud/v1/volumes/{project_id}/{region_id}/{volume_id}/extend',
      'POST /cloud/v2/k8s/clusters/{project_id}/{region_id}/{cluster_name}/upgrade',
      'POST /iam/auth/renew_invitation',
      'POST /iam/clients/invite_user',
      'POST /iam/clients/{clientId}/client-users/create',
      'POST /iam/clients/{clientId}/tokens',
      'POST /iam/users',
      'POST /iam/v2/clients/{clientId}/tokens',
      'PUT /iam/users/{userId}/password',
    ],
  },
  {
    ...refused,
    reason:
      'Texts with more to them than a pattern says: JSON, addresses, keys, dates and languages that exist.',
    operations: [
      'GET /cloud/v1/file_shares/{project_id}/{region_id}',
      'GET /cloud/v1/floatingips/{project_id}/{region_id}',
      'GET /cloud/v1/images/{project_id}/{region_id}',
      'GET /cloud/v1/networks/{project_id}/{region_id}',
      'GET /cloud/v1/ports/{project_id}/{region_id}',
      'GET /cloud/v1/securitygroups/{project_id}/{region_id}',
      'GET /cloud/v1/subnets/{project_id}/{region_id}',
      'GET /cloud/v1/volumes/{project_id}/{region_id}',
      'GET /streaming/ai/info',
      'GET /streaming/ai/tasks',
      'POST /cloud/v1/instances/{project_id}/{region_id}/{instance_id}/detach_interface',
      'POST /cloud/v1/ssh_keys/{project_id}',
      'POST /cloud/v1/user_actions/subscribe',
      'POST /iam/reselling/resellers/{resellerId}/notification_settings',
      'POST /streaming/ai/tasks',
    ],
  },
  {
    ...refused,
    reason: 'Always refused, with the reason: simulated machines have no console, and AMQP is not supported.',
    operations: [
      'GET /cloud/v1/instances/{project_id}/{region_id}/{instance_id}/get_console',
      'POST /cloud/v1/user_actions/subscribe_amqp',
      'POST /cloud/v1/user_actions/subscribe_amqp_test',
    ],
  },
];

/**
 * Every operation of the published contract in the areas that Tradewind serves. A path is written as there; names of
 * parameters don't count. `notes` say, for a method, what a client should know beyond the OpenAPI document.
 */
export interface PublishedOperation {
  /** `GET /cloud/v1/projects`, or several methods of one path: `GET, PATCH /cloud/v1/projects/{p}`. */
  call: string;
  notes?: Record<string, string>;
}

const P = '{project_id}/{region_id}';
const K = `/cloud/v2/k8s/clusters/${P}`;
const V1_GROUPS = `/cloud/v1/securitygroups/${P}`;
const V2_GROUPS = `/cloud/v2/security_groups/${P}`;
const I = `/cloud/v1/instances/${P}`;
const V = `/cloud/v1/volumes/${P}`;
const NETWORKS = `/cloud/v1/networks/${P}`;
const SUBNETS = `/cloud/v1/subnets/${P}`;
const SHARES = `/cloud/v1/file_shares/${P}`;
const IMAGES = `/cloud/v1/images/${P}`;
const FLOATING = `/cloud/v1/floatingips/${P}`;
const RESERVED = `/cloud/v1/reserved_fixed_ips/${P}`;
const LAAS = `/cloud/v1/laas/${P}`;

const WAIT = 'Besides: `Prefer: wait=N` holds the answer until the task ends, 60 s at most';
const HELD = '409 while a task holds the cluster';

const metadata = (one: string): PublishedOperation[] => [
  { call: `GET, POST, PUT ${one}/metadata` },
  { call: `GET, DELETE ${one}/metadata_item` },
];

export const PUBLISHED: Record<string, PublishedOperation[]> = {
  Tasks: [
    {
      call: 'GET /v1/tasks/{task_id}',
      notes: { GET: `The short form of the next path; the same resource. ${WAIT}` },
    },
    { call: 'GET /cloud/v1/tasks/{task_id}', notes: { GET: WAIT } },
    { call: 'GET /cloud/v1/tasks' },
    { call: `GET /cloud/v1/tasks/${P}/active` },
    { call: 'POST /cloud/v1/tasks/{task_id}/acknowledge' },
    { call: 'POST /cloud/v1/tasks/acknowledge_all' },
    { call: 'POST /cloud/v1/tasks/acknowledge' },
  ],
  'Kubernetes clusters': [
    { call: `GET /cloud/v2/k8s/${P}/create_versions` },
    { call: `GET /cloud/v1/k8s/${P}/flavors` },
    { call: `GET, POST ${K}` },
    {
      call: `GET, PATCH, DELETE ${K}/{cluster_name}`,
      notes: { PATCH: HELD, DELETE: HELD },
    },
    { call: `GET ${K}/{cluster_name}/certificates` },
    {
      call: `GET ${K}/{cluster_name}/config`,
      notes: { GET: 'In a simulated region the server is named `*.k8s.invalid`: nothing answers there' },
    },
    { call: `GET ${K}/{cluster_name}/instances` },
    { call: `DELETE ${K}/{cluster_name}/instances/{instance_id}` },
    { call: `GET ${K}/{cluster_name}/upgrade_versions` },
    { call: `POST ${K}/{cluster_name}/upgrade` },
    { call: `GET, POST ${K}/{cluster_name}/pools` },
    {
      call: `GET, PATCH, DELETE ${K}/{cluster_name}/pools/{pool_name}`,
      notes: {
        DELETE: 'Deleting the last pool deletes the cluster; `data` of its task says `cluster_deleted`',
      },
    },
    { call: `POST ${K}/{cluster_name}/pools/{pool_name}/resize` },
    { call: `GET ${K}/{cluster_name}/pools/{pool_name}/instances` },
    { call: `DELETE ${K}/{cluster_name}/pools/{pool_name}/instances/{instance_id}` },
    { call: `POST ${K}/check_limits` },
    { call: `POST ${K}/pools/check_limits` },
    { call: `POST /cloud/v2/pricing/${P}/k8s/clusters` },
    { call: `GET /cloud/v2/pricing/${P}/k8s/clusters/{cluster_name}` },
  ],
  'Security groups': [
    { call: `GET, POST ${V1_GROUPS}` },
    {
      call: `GET, PATCH, DELETE ${V1_GROUPS}/{group_id}`,
      notes: { DELETE: '409 while the group is in use, naming the ports' },
    },
    { call: `POST ${V1_GROUPS}/{group_id}/copy` },
    { call: `POST ${V1_GROUPS}/{group_id}/revert` },
    { call: `POST ${V1_GROUPS}/{group_id}/rules` },
    { call: `GET ${V1_GROUPS}/{group_id}/instances` },
    { call: `PUT, DELETE /cloud/v1/securitygrouprules/${P}/{rule_id}` },
    ...metadata(`${V1_GROUPS}/{group_id}`),
    { call: `POST ${V2_GROUPS}` },
    { call: `PATCH ${V2_GROUPS}/{group_id}` },
    { call: `POST ${V2_GROUPS}/{group_id}/rules` },
    { call: `DELETE ${V2_GROUPS}/{group_id}/rules/{rule_id}` },
    { call: `POST ${I}/{instance_id}/addsecuritygroup` },
    { call: `POST ${I}/{instance_id}/delsecuritygroup` },
    { call: `GET ${I}/{instance_id}/securitygroups` },
  ],
  'Instances and ports': [
    {
      call: `POST /cloud/v2/instances/${P}`,
      notes: {
        POST: 'In a simulated region no guest starts: `password`, `username` and `user_data` are not used',
      },
    },
    { call: `GET ${I}` },
    { call: `GET, PATCH, DELETE ${I}/{instance_id}` },
    { call: `POST /cloud/v2/instances/${P}/{instance_id}/action` },
    ...['start', 'stop', 'reboot', 'powercycle', 'suspend', 'resume'].map((action) => ({
      call: `POST ${I}/{instance_id}/${action}`,
    })),
    { call: `POST ${I}/{instance_id}/changeflavor` },
    { call: `GET ${I}/{instance_id}/available_flavors` },
    { call: `POST ${I}/available_flavors` },
    { call: `GET ${I}/{instance_id}/ports` },
    { call: `GET ${I}/{instance_id}/interfaces` },
    { call: `POST ${I}/{instance_id}/attach_interface` },
    { call: `POST ${I}/{instance_id}/detach_interface` },
    {
      call: `GET ${I}/{instance_id}/get_console`,
      notes: { GET: '400 in a simulated region: no machine runs that has one' },
    },
    { call: `POST /cloud/v2/instances/${P}/check_limits` },
    ...metadata(`${I}/{instance_id}`),
    ...metadata(`/cloud/v2/instances/${P}/{instance_id}`).slice(1),
    { call: `GET /cloud/v1/ports/${P}` },
    { call: `GET, PATCH /cloud/v1/ports/${P}/{port_id}` },
    { call: `POST /cloud/v1/ports/${P}/{port_id}/enable_port_security` },
    { call: `POST /cloud/v1/ports/${P}/{port_id}/disable_port_security` },
    { call: `PUT /cloud/v2/ports/${P}/{port_id}/allow_address_pairs` },
  ],
  'Networks and subnets': [
    { call: `GET, POST ${NETWORKS}` },
    { call: `GET, PATCH, DELETE ${NETWORKS}/{network_id}` },
    { call: `PATCH /cloud/v2/networks/${P}/{network_id}` },
    { call: `GET ${NETWORKS}/{network_id}/ports` },
    ...metadata(`${NETWORKS}/{network_id}`),
    { call: `GET, POST ${SUBNETS}` },
    { call: `GET, PATCH, DELETE ${SUBNETS}/{subnet_id}` },
    ...metadata(`${SUBNETS}/{subnet_id}`),
  ],
  'Floating and reserved IPs': [
    { call: `GET, POST ${FLOATING}` },
    { call: `GET, DELETE ${FLOATING}/{floating_ip_id}` },
    { call: `POST ${FLOATING}/{floating_ip_id}/assign` },
    { call: `POST ${FLOATING}/{floating_ip_id}/unassign` },
    { call: `GET, POST ${RESERVED}` },
    { call: `GET, DELETE ${RESERVED}/{port_id}` },
  ],
  'Prices, volumes and snapshots': [
    { call: `POST /cloud/v1/pricing/${P}/volumes` },
    { call: `POST /cloud/v1/pricing/${P}/snapshots` },
    { call: `GET, POST ${V}` },
    { call: `GET, PATCH, DELETE ${V}/{volume_id}` },
    { call: `POST ${V}/{volume_id}/extend` },
    { call: `POST ${V}/{volume_id}/retype` },
    { call: `POST ${V}/{volume_id}/revert` },
    { call: `POST ${V}/{volume_id}/attach` },
    { call: `POST ${V}/{volume_id}/detach` },
    { call: `POST /cloud/v2/volumes/${P}/{volume_id}/attach` },
    { call: `POST /cloud/v2/volumes/${P}/{volume_id}/detach` },
    ...metadata(`${V}/{volume_id}`),
    { call: `GET, POST /cloud/v1/snapshots/${P}` },
    { call: `GET, PATCH, DELETE /cloud/v1/snapshots/${P}/{snapshot_id}` },
  ],
  'Projects, regions and keys': [
    { call: 'GET, POST /cloud/v1/projects' },
    { call: 'GET, PATCH, DELETE /cloud/v1/projects/{project_id}' },
    { call: 'GET /cloud/v1/regions' },
    { call: 'GET /cloud/v1/regions/{region_id}' },
    { call: 'GET, POST /cloud/v1/ssh_keys/{project_id}' },
    { call: 'GET, PATCH, DELETE /cloud/v1/ssh_keys/{project_id}/{ssh_key_id}' },
  ],
  'File shares, DDoS templates and logging': [
    { call: `GET, POST ${SHARES}` },
    { call: `GET, PATCH, DELETE ${SHARES}/{file_share_id}` },
    { call: `PATCH /cloud/v3/file_shares/${P}/{file_share_id}` },
    { call: `POST ${SHARES}/{file_share_id}/extend` },
    ...metadata(`${SHARES}/{file_share_id}`),
    { call: 'GET /cloud/v1/ddos/profile-templates/{region_id}' },
    { call: `GET, PATCH ${LAAS}/status` },
    { call: `GET, PUT ${LAAS}/topics`, notes: { GET: 'The list is `{count, results}`' } },
    { call: `DELETE ${LAAS}/topics/{topic_name}` },
    { call: `POST ${LAAS}/users` },
    { call: 'GET /cloud/v1/laas/{region_id}/destination_regions' },
    { call: 'GET /cloud/v1/laas/{region_id}/hosts' },
  ],
  'Flavors and images': [
    { call: `GET /cloud/v1/flavors/${P}` },
    { call: `GET, POST ${IMAGES}` },
    { call: `GET, PATCH, DELETE ${IMAGES}/{image_id}` },
    ...metadata(`${IMAGES}/{image_id}`),
  ],
  'AI tasks': [
    {
      call: 'GET, POST /streaming/ai/tasks',
      notes: {
        POST: 'No engine works on them yet: they stay PENDING. 400 when 100 tasks of the account are unfinished',
      },
    },
    { call: 'GET /streaming/ai/tasks/{task_id}' },
    { call: 'POST /streaming/ai/tasks/{task_id}/cancel' },
    { call: 'GET /streaming/ai/info' },
  ],
  'Accounts and users': [
    { call: 'POST /iam/auth/jwt/login' },
    { call: 'POST /iam/auth/jwt/refresh' },
    { call: 'GET /iam/auth/jwt/clients/{clientId}/login' },
    { call: 'GET /iam/auth/jwt/clients/{clientId}/admin_token' },
    { call: 'GET /iam/auth/jwt/users/{userId}/token' },
    {
      call: 'POST /iam/auth/password/forgot',
      notes: { POST: 'No mail is sent: the log names who asked' },
    },
    { call: 'PUT /iam/users/{userId}/password' },
    { call: 'GET /iam/clients/me' },
    { call: 'POST /iam/clients/create' },
    { call: 'GET /iam/activity_log/logins' },
    { call: 'GET, POST /iam/users' },
    { call: 'GET, PATCH, DELETE /iam/users/{userId}' },
    { call: 'PUT /iam/users/{userId}/email' },
    {
      call: 'POST /iam/clients/invite_user',
      notes: { POST: 'No mail is sent: the log names who was invited' },
    },
    { call: 'GET, PUT, DELETE /iam/clients/{clientId}/client-users/{userId}' },
    { call: 'GET /iam/clients' },
    { call: 'GET, PATCH /iam/clients/{clientId}' },
  ],
  'Tokens, features and notifications': [
    { call: 'GET, POST /iam/v2/clients/{clientId}/tokens' },
    { call: 'GET, DELETE /iam/v2/clients/{clientId}/tokens/{tokenId}' },
    { call: 'GET, POST /iam/clients/{clientId}/tokens' },
    { call: 'GET, DELETE /iam/clients/{clientId}/tokens/{tokenId}' },
    { call: 'GET /iam/admin/feature' },
    { call: 'GET /iam/admin/feature/{featureId}' },
    { call: 'GET, POST /iam/admin/paid_features' },
    { call: 'GET, DELETE /iam/admin/paid_features/{activatedFeatureId}' },
    { call: 'GET, POST /iam/admin/free_features' },
    { call: 'GET, DELETE /iam/admin/free_features/{activatedFeatureId}' },
    { call: 'GET, POST /iam/reselling/resellers/{resellerId}/notification_settings' },
    {
      call: 'GET, PUT, PATCH, DELETE /iam/reselling/resellers/{resellerId}/notification_settings/{notificationSettingsId}',
    },
  ],
};

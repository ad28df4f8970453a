/**
 * Every operation of the published contract or the official clients in the areas that Tradewind serves;
 * names of parameters don't matter. `notes` say, for a method, what a client should know beyond the OpenAPI
 * document.
 */
export interface PublishedOperation {
  /** `GET /cloud/v1/projects`, or several methods of one path: `GET, PATCH /cloud/v1/projects/{p}`. */
  call: string;
  notes?: Record<string, string>;
  /** The operation only answers that it isn't supported. */
  unsupported?: boolean;
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
const ROUTERS = `/cloud/v1/routers/${P}`;
const FLOATING = `/cloud/v1/floatingips/${P}`;
const RESERVED = `/cloud/v1/reserved_fixed_ips/${P}`;
const BALANCERS = `/cloud/v1/loadbalancers/${P}`;
const BALANCER = `${BALANCERS}/{load_balancer_id}`;
const BALANCER_V2 = `/cloud/v2/loadbalancers/${P}/{load_balancer_id}`;
const LISTENERS = `/cloud/v1/lblisteners/${P}`;
const POOLS = `/cloud/v1/lbpools/${P}`;
const MEMBERS = `${BALANCERS}/pools/{pool_id}/members`;
const POLICIES = `/cloud/v1/l7policies/${P}`;
const KEY_PAIRS = `/cloud/v1/keypairs/${P}`;
const LAAS = `/cloud/v1/laas/${P}`;

const WAIT = 'Besides: `Prefer: wait=N` holds the answer until the task ends, 60 s at most';
const FIRST_FREE =
  'Without `fixed_ip_address` it leads to the first IPv4 address of the port that has no floating IP. 409 where no router leads out of the subnet; the platform itself routes default networks and those from before routers';
const REPORTS = 'By the second and not delayed; `csv_totals` and `csv_records` have the fields of the JSON';
const NO_AMQP = 'Always 400: nothing here speaks AMQP';
const NOT_KEPT = '`data`, `host` and `query_params` are empty: they are not kept';
const HELD = '409 while a task holds the cluster';
const HELD_BALANCER = '409 while a task holds the load balancer';
const ONE_AT_A_TIME = {
  POST: HELD_BALANCER,
  PUT: HELD_BALANCER,
  PATCH: HELD_BALANCER,
};

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
      notes: { PATCH: HELD },
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
    {
      call: `POST /cloud/v2/pricing/${P}/k8s/clusters`,
      notes: { POST: 'A pool of virtual machines without a boot volume is priced by its machines' },
    },
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
        POST: 'In a simulated region no guest starts: `password`, `username` and `user_data` are not used. The older Terraform provider is understood: `names` and `name_templates` with one entry, `keypair_name`, `metadata` (also of volumes), `existing_floating_id: ""` of new floating IPs, `ip_family` of every kind of interface; ignored are `boot_index` of a blank volume and `name`, `type_name` of one that exists',
      },
    },
    { call: `GET ${I}` },
    { call: `GET, PATCH, DELETE ${I}/{instance_id}` },
    { call: `POST /cloud/v2/instances/${P}/{instance_id}/action` },
    ...['start', 'stop', 'reboot', 'powercycle', 'suspend', 'resume'].map((action) => ({
      call: `POST ${I}/{instance_id}/${action}`,
    })),
    { call: `POST ${I}/{instance_id}/changeflavor` },
    { call: `GET ${I}/available_names`, notes: { GET: 'Names are never restricted here' } },
    { call: `GET ${I}/{instance_id}/available_flavors` },
    {
      call: `POST ${I}/available_flavors`,
      notes: { POST: 'A volume that names no image, snapshot or volume yet excludes no flavor' },
    },
    { call: `GET ${I}/{instance_id}/ports` },
    { call: `GET ${I}/{instance_id}/interfaces` },
    {
      call: `POST ${I}/{instance_id}/attach_interface`,
      notes: {
        POST: 'Without `type` the other fields tell it, and a subnet tells its network. `ddos_profile` is held against the templates of the region and not kept: nothing is filtered',
      },
    },
    { call: `POST ${I}/{instance_id}/detach_interface` },
    {
      call: `GET ${I}/{instance_id}/get_console`,
      notes: {
        GET: 'Simulated machines have a serial console, with a boot log and no guest. Other types are 400 there',
      },
    },
    {
      call: `POST ${I}/{instance_id}/metrics`,
      notes: {
        POST: 'The five published intervals. Figures of simulated machines are [made up](../backends.md#simulated-infrastructure) from ID and time',
      },
    },
    { call: `POST /cloud/v2/instances/${P}/check_limits` },
    { call: `GET, POST, PUT ${I}/{instance_id}/metadata` },
    { call: `GET, DELETE ${I}/{instance_id}/metadata/{key}` },
    { call: `GET, DELETE /cloud/v2/instances/${P}/{instance_id}/metadata_item` },
    {
      call: `GET /cloud/v1/ports/${P}`,
      notes: {
        GET: 'Interfaces of routers are listed as well: `managed_by` is `system`, and a change is 409',
      },
    },
    {
      call: `GET, PATCH /cloud/v1/ports/${P}/{port_id}`,
      notes: {
        PATCH:
          'As in Neutron, `port_security_enabled: false` wants `security_group_ids: []` and `allowed_address_pairs: []` where there are any; 409 in the external network',
      },
    },
    { call: `POST /cloud/v1/ports/${P}/{port_id}/enable_port_security` },
    {
      call: `POST /cloud/v1/ports/${P}/{port_id}/disable_port_security`,
      notes: {
        POST: 'Takes the security groups off as well: without port security none works, and clients call it with groups set. 409 while there are address pairs, and in the external network',
      },
    },
    {
      call: `PUT /cloud/v2/ports/${P}/{port_id}/allow_address_pairs`,
      notes: { PUT: '`mac_address` of a pair is seen in interfaces and reserved addresses, not in ports' },
    },
  ],
  'Networks and subnets': [
    {
      call: `GET /cloud/v1/availablenetworks/${P}`,
      notes: { GET: 'Those of the project, and the external ones of the platform' },
    },
    {
      call: `GET, POST ${NETWORKS}`,
      notes: {
        POST: 'The router of `create_router` is called `<name>_router`, cut to 63 characters, and is among `created_resources` as well. As source NAT needs, it has an IPv4 address of the external network; 409 when none is left',
      },
    },
    {
      call: `GET, PATCH, DELETE ${NETWORKS}/{network_id}`,
      notes: { DELETE: 'The router that came with it goes too, unless it has subnets of other networks' },
    },
    { call: `PATCH /cloud/v2/networks/${P}/{network_id}` },
    { call: `GET ${NETWORKS}/{network_id}/ports` },
    ...metadata(`${NETWORKS}/{network_id}`),
    {
      call: `GET, POST ${SUBNETS}`,
      notes: {
        GET: "`total_ips` and `available_ips` are null beyond 2^53 - 1; the platform's own have the `project_id` of the request",
        POST: 'IPv4 from /8 to /29, IPv6 from /32 to /125, private or public; 400 with bits set beyond the mask, naming the network address. `has_router` is always false, as published. At most 5 `dns_nameservers` and 20 `host_routes`, all of the family of `cidr`',
      },
    },
    {
      call: `GET, PATCH, DELETE ${SUBNETS}/{subnet_id}`,
      notes: {
        PATCH: 'A router with the address of the gateway follows it, and is detached with null',
        DELETE: 'Detaches it from its routers; 409 while their routes go through it',
      },
    },
    ...metadata(`${SUBNETS}/{subnet_id}`),
  ],
  Routers: [
    {
      call: 'GET /cloud/public/v1/ipranges/egress',
      notes: {
        GET: 'Ranges of the external networks; asks for no token. What Tradewind itself fetches and sends comes from the machine on which it runs',
      },
    },
    {
      call: `GET, POST ${ROUTERS}`,
      notes: {
        GET: '`distributed` is always false. `status` is `ALLOCATING` until the router is made, then `ACTIVE`',
        POST: 'As in Neutron: at most 30 `routes`, next hops in a range of the router, no overlapping ranges, one router for each address. One IPv4 address in `external_fixed_ips`',
      },
    },
    {
      call: `GET, PATCH, DELETE ${ROUTERS}/{router_id}`,
      notes: {
        PATCH: 'Null keeps `name` and `routes`, and removes the gateway; 409 while floating IPs need that',
        DELETE: 'Detaches its subnets; 409 while floating IPs need it',
      },
    },
    { call: `PATCH /cloud/v2/routers/${P}/{router_id}` },
    {
      call: `POST ${ROUTERS}/{router_id}/metrics`,
      notes: {
        POST: 'All figures are 0: simulated routers are idle. `port_id` of the gateway is that of the router',
      },
    },
    { call: `POST ${ROUTERS}/{router_id}/attach` },
    {
      call: `POST ${ROUTERS}/{router_id}/detach`,
      notes: { POST: '409 while routes go through the subnet or floating IPs need the router there' },
    },
  ],
  'Floating and reserved IPs': [
    {
      call: `GET, POST ${FLOATING}`,
      notes: { POST: FIRST_FREE },
    },
    { call: `GET /cloud/v1/availablefloatingips/${P}`, notes: { GET: 'The latest 1000' } },
    { call: `GET, PATCH, DELETE ${FLOATING}/{floating_ip_id}` },
    {
      call: `PATCH /cloud/v2/floatingips/${P}/{floating_ip_id}`,
      notes: { PATCH: `${FIRST_FREE}. 409 while a task holds the floating IP` },
    },
    ...metadata(`${FLOATING}/{floating_ip_id}`),
    { call: `POST ${FLOATING}/{floating_ip_id}/assign` },
    { call: `POST ${FLOATING}/{floating_ip_id}/unassign` },
    {
      call: `POST ${FLOATING}/{floating_ip_id}/convert`,
      notes: { POST: 'The address is never free in between; tags are not kept' },
    },
    {
      call: `GET, POST ${RESERVED}`,
      notes: {
        GET: '`ip_address` is a part of an address, not an expression; `device_id` and `available_only` know of shared addresses as well',
        POST: '`ip_family` in the forms `subnet` and `ip_address`, and `is_vip: false` in the form `port`, at `/gcore` alone',
      },
    },
    {
      call: `GET, PATCH, DELETE ${RESERVED}/{port_id}`,
      notes: {
        PATCH: '409 while an instance has it, and off while ports share it',
        DELETE: 'Where the own port of a load balancer was reserved, it stays with the load balancer',
      },
    },
    { call: `GET ${RESERVED}/{port_id}/available_devices` },
    {
      call: `GET, PUT, PATCH ${RESERVED}/{port_id}/connected_devices`,
      notes: {
        GET: 'Those whose allowed address pairs name the address, however it came there',
        PUT: '409 for an address that is no VIP; without `port_ids` nothing changes',
        PATCH: '409 for an address that is no VIP',
      },
    },
    {
      call: `POST ${RESERVED}/{port_id}/convert`,
      notes: { POST: 'The address is never free in between' },
    },
  ],
  'Load balancers': [
    { call: `GET, POST ${BALANCERS}` },
    { call: `GET, PATCH, DELETE ${BALANCER}`, notes: ONE_AT_A_TIME },
    { call: `PATCH ${BALANCER_V2}`, notes: ONE_AT_A_TIME },
    ...metadata(BALANCER),
    { call: `POST, PUT ${BALANCER_V2}/metadata` },
    { call: `DELETE ${BALANCER_V2}/metadata_item` },
    { call: `GET ${BALANCERS}/status` },
    { call: `GET ${BALANCER}/status` },
    { call: `POST ${BALANCER}/resize`, notes: ONE_AT_A_TIME },
    { call: `POST ${BALANCER}/failover`, notes: ONE_AT_A_TIME },
    {
      call: `POST ${BALANCER}/metrics`,
      notes: { POST: 'Up to 60 points. Figures of simulated load balancers are made up from ID and time' },
    },
    { call: `POST ${BALANCERS}/check_limits` },
    { call: `GET /cloud/v1/lbflavors/${P}` },
    { call: `GET, POST ${LISTENERS}`, notes: ONE_AT_A_TIME },
    { call: `GET, PATCH, DELETE ${LISTENERS}/{listener_id}`, notes: ONE_AT_A_TIME },
    { call: `PATCH /cloud/v2/lblisteners/${P}/{listener_id}`, notes: ONE_AT_A_TIME },
    { call: `GET, POST ${POOLS}`, notes: ONE_AT_A_TIME },
    { call: `GET, PATCH, DELETE ${POOLS}/{pool_id}`, notes: ONE_AT_A_TIME },
    { call: `PATCH /cloud/v2/lbpools/${P}/{pool_id}`, notes: ONE_AT_A_TIME },
    { call: `POST ${POOLS}/{pool_id}/member`, notes: ONE_AT_A_TIME },
    { call: `DELETE ${POOLS}/{pool_id}/member/{member_id}`, notes: ONE_AT_A_TIME },
    {
      call: `GET, POST, PUT ${MEMBERS}`,
      notes: {
        ...ONE_AT_A_TIME,
        PUT: `${HELD_BALANCER}. A request without a body is refused: \`[]\` removes all`,
      },
    },
    { call: `GET, PATCH, DELETE ${MEMBERS}/{member_id}`, notes: ONE_AT_A_TIME },
    { call: `GET, POST, PATCH, DELETE ${POOLS}/{pool_id}/healthmonitor`, notes: ONE_AT_A_TIME },
    { call: `GET, POST ${POLICIES}`, notes: ONE_AT_A_TIME },
    { call: `GET, PATCH, DELETE ${POLICIES}/{l7policy_id}`, notes: ONE_AT_A_TIME },
    { call: `GET, POST ${POLICIES}/{l7policy_id}/rules`, notes: ONE_AT_A_TIME },
    { call: `GET, PUT, DELETE ${POLICIES}/{l7policy_id}/rules/{l7rule_id}`, notes: ONE_AT_A_TIME },
  ],
  'Prices, volumes and snapshots': [
    { call: `POST /cloud/v1/pricing/${P}/volumes` },
    { call: `POST /cloud/v1/pricing/${P}/snapshots` },
    { call: `GET, POST ${V}` },
    { call: `GET, PATCH, DELETE ${V}/{volume_id}` },
    { call: `POST ${V}/{volume_id}/extend` },
    {
      call: `POST ${V}/{volume_id}/retype`,
      notes: { POST: 'As in Cinder, 400 for the type that the volume has' },
    },
    { call: `POST ${V}/{volume_id}/revert` },
    { call: `POST ${V}/{volume_id}/attach` },
    { call: `POST ${V}/{volume_id}/detach` },
    { call: `POST /cloud/v2/volumes/${P}/{volume_id}/attach` },
    { call: `POST /cloud/v2/volumes/${P}/{volume_id}/detach` },
    ...metadata(`${V}/{volume_id}`),
    { call: `GET, POST /cloud/v1/snapshots/${P}` },
    { call: `GET, PATCH, DELETE /cloud/v1/snapshots/${P}/{snapshot_id}` },
    { call: `PUT /cloud/v1/snapshots/${P}/{snapshot_id}/metadata`, notes: { PUT: 'At `/gcore` alone' } },
    { call: `POST /cloud/v1/pricing/${P}/loadbalancers` },
    { call: `POST /cloud/v2/pricing/${P}/loadbalancers` },
    {
      call: `POST /cloud/v2/pricing/${P}/instances`,
      notes: { POST: "For all named instances together; `per_gb` is null where traffic isn't metered" },
    },
    { call: `GET /cloud/v1/pricing/${P}/instances/{instance_id}` },
    { call: `POST /cloud/v1/pricing/${P}/file_shares` },
    { call: `POST /cloud/v1/pricing/${P}/floating_ips` },
    { call: `POST /cloud/v1/pricing/${P}/images` },
    { call: `POST /cloud/v1/pricing/${P}/reserved_fixed_ips` },
    { call: 'GET /cloud/v1/pricing/{region_id}/laas', notes: { GET: 'The price of one GiB' } },
    { call: 'GET /cloud/v1/pricing/{region_id}/ddos', notes: { GET: 'The price of one profile' } },
  ],
  'Cost and usage reports': [
    { call: 'POST /cloud/v1/cost_report/totals', notes: { POST: REPORTS } },
    { call: 'POST /cloud/v1/cost_report/resources', notes: { POST: REPORTS } },
    {
      call: 'POST /cloud/v1/reservation_cost_report/totals',
      notes: { POST: 'There are no reservations: the same as the totals of that month' },
    },
    { call: 'POST /cloud/v1/usage_report', notes: { POST: 'A year at most; nothing is delayed' } },
  ],
  'Projects, regions and keys': [
    { call: 'GET, POST /cloud/v1/projects' },
    { call: 'GET, PATCH, DELETE /cloud/v1/projects/{project_id}' },
    { call: 'GET /cloud/v1/regions' },
    { call: 'GET /cloud/v1/regions/{region_id}' },
    { call: 'GET, POST /cloud/v1/ssh_keys/{project_id}' },
    { call: 'GET, PATCH, DELETE /cloud/v1/ssh_keys/{project_id}/{ssh_key_id}' },
    {
      call: 'GET, POST /cloud/v2/keypairs',
      notes: {
        GET: 'SSH keys by their older name. `project_id` is needed, whoever asks; the latest 1000',
        POST: 'Fingerprints are SHA-256, as of SSH keys',
      },
    },
    { call: 'GET, DELETE /cloud/v2/keypairs/{keypair_id}', notes: { GET: 'By ID alone; a name is 404' } },
    { call: `GET, POST ${KEY_PAIRS}`, notes: { GET: 'The latest 1000, the same in each region' } },
    { call: `GET, DELETE ${KEY_PAIRS}/{keypair_id}` },
    { call: `PATCH ${KEY_PAIRS}/{keypair_id}/share` },
  ],
  'File shares, DDoS protection and logging': [
    {
      call: `GET, POST ${SHARES}`,
      notes: {
        POST: '`volume_type` is taken at `/gcore`. DDN shares and `trash_access` are not offered',
      },
    },
    { call: `GET, PATCH, DELETE ${SHARES}/{file_share_id}` },
    { call: `PATCH /cloud/v3/file_shares/${P}/{file_share_id}` },
    { call: `POST ${SHARES}/{file_share_id}/extend` },
    { call: `GET, POST ${SHARES}/{file_share_id}/access_rule` },
    { call: `DELETE ${SHARES}/{file_share_id}/access_rule/{access_rule_id}` },
    { call: `POST ${SHARES}/check_limits`, notes: { POST: 'Sizes have no quota' } },
    ...metadata(`${SHARES}/{file_share_id}`),
    { call: 'GET /cloud/v1/ddos/profile-templates/{region_id}' },
    {
      call: 'GET /cloud/v1/ddos/accessibility/{region_id}',
      notes: { GET: 'What the catalogue says (`has_ddos`)' },
    },
    {
      call: 'GET /cloud/v1/ddos/region_coverage/{region_id}',
      notes: { GET: 'What the catalogue says (`has_ddos`)' },
    },
    {
      call: `GET, POST /cloud/v1/ddos/profiles/${P}`,
      notes: {
        GET: '`site` and `protocols` are null, `managed_by` is `user`',
        POST: 'Of an address in the external network or a floating IP, either of which leads to an instance or load balancer. The profile goes when the address is given back. No paid feature is needed. Instances and load balancers do not show it. The older Terraform provider is understood: `value` for `field_value`; `bm_instance_id` is ignored',
      },
    },
    {
      call: `PATCH, DELETE /cloud/v1/ddos/profiles/${P}/{profile_id}`,
      notes: { PATCH: 'The address stays: the same, or null' },
    },
    { call: `POST /cloud/v1/ddos/profiles/${P}/{profile_id}/action` },
    { call: `GET, PATCH ${LAAS}/status` },
    {
      call: `GET /cloud/v1/laas/namespaces/${P}/{namespace_name}`,
      notes: { GET: '400 for what can never be a namespace, and where the region has no logging' },
    },
    {
      call: `GET, PUT ${LAAS}/topics`,
      notes: {
        GET: 'The list is `{count, results}`',
        PUT: 'Initialises logging if necessary, as the logging of a cluster does: Terraform has no resource for that',
      },
    },
    { call: `DELETE ${LAAS}/topics/{topic_name}` },
    { call: `POST ${LAAS}/users` },
    { call: 'GET /cloud/v1/laas/{region_id}/destination_regions' },
    { call: 'GET /cloud/v1/laas/{region_id}/hosts' },
    {
      call: 'GET /cloud/v1/laas/{region_id}/kafka_hosts',
      notes: { GET: 'What the older Terraform provider asks instead of `hosts`' },
    },
    {
      call: 'GET /cloud/v1/laas/{region_id}/opensearch_hosts',
      notes: { GET: 'Empty, unless the catalogue names `opensearch_hosts`' },
    },
  ],
  'User actions': [
    {
      call: 'GET /cloud/v1/user_actions',
      notes: {
        GET: 'For administrators. Kept for a year; `action_data`, `resource_body` and `total_price` are null. `search_field` matches how a name or address begins. Our own log of all requests, which had this path, is at `GET /cloud/v1/request_log`',
      },
    },
    {
      call: 'POST /cloud/v1/user_actions/subscribe',
      notes: {
        POST: 'Each action is sent as the list shows it; hosts of private networks want `TRADEWIND_WEBHOOK_ALLOW_HOSTS`',
      },
    },
    { call: 'GET /cloud/v1/user_actions/subscriptions_list' },
    { call: 'POST /cloud/v1/user_actions/unsubscribe' },
    { call: 'POST /cloud/v1/user_actions/subscribe_amqp', notes: { POST: NO_AMQP }, unsupported: true },
    { call: 'POST /cloud/v1/user_actions/subscribe_amqp_test', notes: { POST: NO_AMQP }, unsupported: true },
    { call: 'GET /cloud/v1/user_actions/amqp_subscriptions_list', notes: { GET: 'Always empty' } },
    {
      call: 'GET, PATCH /cloud/v1/user_actions/amqp_subscriptions/{subscription_id}',
      notes: { GET: 'Always 404', PATCH: 'Always 404' },
      unsupported: true,
    },
    { call: 'POST /cloud/v1/user_actions/unsubscribe_amqp', notes: { POST: 'There is nothing to end' } },
  ],
  'Flavors and images': [
    { call: `GET /cloud/v1/flavors/${P}` },
    { call: `GET, POST ${IMAGES}` },
    {
      call: `POST /cloud/v1/downloadimage/${P}`,
      notes: {
        POST: 'In a simulated region nothing is fetched: `size` stays null. User, password and query of `url` are never shown. `min_disk` is 1',
      },
    },
    { call: `GET /cloud/v1/projectimages/${P}`, notes: { GET: 'The latest 1000' } },
    { call: `GET, PATCH, DELETE ${IMAGES}/{image_id}` },
    ...metadata(`${IMAGES}/{image_id}`),
  ],
  'AI tasks': [
    {
      call: 'GET, POST /streaming/ai/tasks',
      notes: {
        GET: '`next` and `previous` keep the limit and the filters, and are left out where there is no such page; `processing_time.started_at` is left out until the task is first taken into work, and `completed_at` and `total_time_sec` are null meanwhile, as the contract allows',
        POST: 'Worked on by [engines on this machine](../ai.md): English transcription, `nsfw` and `sport`, other kinds with models of your own. A category that no engine can do is 422; transcriptions and `nsfw` wait in PENDING for one. 400 when 100 tasks of the account are unfinished, 422 without the [feature](../ai.md) for that kind of task',
      },
    },
    { call: 'GET /streaming/ai/tasks/{task_id}', notes: { GET: '`result` is left out until there is one' } },
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
    { call: 'GET /iam/activity_log/account_status_changes' },
    {
      call: 'GET /iam/activity_log/requests',
      notes: { GET: `Requests that were to change something. ${NOT_KEPT}` },
    },
    { call: 'GET /iam/activity_log/requests/{id}', notes: { GET: NOT_KEPT } },
    { call: 'GET, POST /iam/users' },
    {
      call: 'GET, PATCH, DELETE /iam/users/{userId}',
      notes: {
        PATCH:
          '`is_active` is a place in the own account, `email` takes the password (`PUT .../email`) or the platform, `auth_types` are kept and only passwords are worked',
        DELETE: 'Out of the one account in reach; 403 when there are several',
      },
    },
    { call: 'PUT /iam/users/{userId}/email' },
    {
      call: 'POST /iam/clients/invite_user',
      notes: {
        POST: 'No mail is sent: `invitation_token` of the answer is to be handed over, and `user_id` stands for the invited until they join',
      },
    },
    {
      call: 'POST /iam/auth/renew_invitation',
      notes: { POST: 'No mail is sent: the answer has new tokens' },
    },
    {
      call: 'POST /iam/auth/reset_password',
      notes: {
        POST: 'No mail is sent: the log names the user. Only for those who look after the user; anybody else 404',
      },
    },
    {
      call: 'POST /iam/clients/{clientId}/client-users/create',
      notes: { POST: '`user_role` plain or in an object `user_role`; the answer has both' },
    },
    {
      call: 'GET, PUT, DELETE /iam/clients/{clientId}/client-users/{userId}',
      notes: { DELETE: 'Users may leave by themselves' },
    },
    { call: 'GET /iam/clients' },
    { call: 'GET, PATCH /iam/clients/{clientId}' },
    { call: 'GET /iam/clients/{clientId}/services' },
    {
      call: 'GET, PUT, PATCH /iam/clients/{clientId}/services/{serviceId}',
      notes: {
        PUT: 'CLOUD and STREAMING: `active`, `trial`, `trialend`, `paused`; no options',
        PATCH: 'The same',
      },
    },
  ],
  'Tokens, features and notifications': [
    { call: 'GET, POST /iam/v2/clients/{clientId}/tokens' },
    { call: 'GET, DELETE /iam/v2/clients/{clientId}/tokens/{tokenId}' },
    { call: 'GET, POST /iam/clients/{clientId}/tokens' },
    { call: 'GET, DELETE /iam/clients/{clientId}/tokens/{tokenId}' },
    { call: 'GET, PATCH /iam/products/availability/defaults' },
    { call: 'GET, PATCH, DELETE /iam/products/availability/clients/{clientId}' },
    { call: 'DELETE /iam/products/availability/clients' },
    {
      call: 'GET, POST /iam/admin/sellers',
      notes: { POST: 'The answer has the `invitation_token` of the mail besides' },
    },
    {
      call: 'GET, PATCH, DELETE /iam/admin/sellers/{sellerId}',
      notes: {
        PATCH: '`email` takes the password of the seller (`PUT /iam/users/{userId}/email`) or the platform',
        DELETE: '403 with API tokens, which are deleted first',
      },
    },
    { call: 'GET /iam/admin/feature' },
    { call: 'GET /iam/admin/feature/{featureId}' },
    {
      call: 'GET, POST /iam/admin/paid_features',
      notes: {
        POST: 'Each feature of the catalogue opens AI tasks of one kind; `Origin shield` and others that would open nothing are not offered',
      },
    },
    { call: 'GET, DELETE /iam/admin/paid_features/{activatedFeatureId}' },
    { call: 'GET, POST /iam/admin/free_features' },
    { call: 'GET, DELETE /iam/admin/free_features/{activatedFeatureId}' },
    { call: 'GET, POST /iam/reselling/resellers/{resellerId}/notification_settings' },
    {
      call: 'GET, PUT, PATCH, DELETE /iam/reselling/resellers/{resellerId}/notification_settings/{notificationSettingsId}',
    },
  ],
};

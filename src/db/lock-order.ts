/**
 * The order in which transactions lock the rows of tables and wait for them, so that no two wait for each other: first whose the
 * things are, then what holds others, then what is held. Rows of one table are locked in the order of their IDs.
 *
 * A row that a transaction inserts comes at any time, since nobody else waits for it. So does what is taken with `skip locked`, and
 * what only the holder of a locked row changes: the wants of a thing, the rules of a group, the parts of a load balancer. Who
 * manages an account is judged after it is locked: until then it can go to another reseller or begin to be deleted.
 *
 * `test/acceptance/concurrency.test.ts` records what many clients lock, and compares it with this list.
 */
export const LOCK_ORDER = [
  'clients',
  'resellers',
  'identity_providers',
  'users',
  'projects',
  'tasks',
  'task_wants',
  'waiting_deletions',
  'secrets',
  'ssh_keys',
  'images',
  'file_shares',
  'networks',
  'kubernetes_clusters',
  'load_balancers',
  'instances',
  'server_groups',
  'ports',
  'subnets',
  'routers',
  'security_groups',
  'floating_ips',
  'volumes',
  'snapshots',
  'ddos_profiles',
  'billed_months',
  'invoices',
  'invoice_counters',
] as const;

/**
 * What may be locked against the order: rows of the table `locks`, by a statement with this text, `after` rows of these tables or, if
 * none are named, of any.
 */
export const LOCK_EXCEPTIONS: readonly { locks: string; text: string; after?: readonly string[]; why: string }[] = [
  { locks: 'subnets', text: 'offered_to', why: 'Subnets of external networks: nobody locks them first.' },
  {
    locks: 'subnets',
    text: '"available"',
    after: ['floating_ips', 'volumes'],
    why: 'For new ports. The floating IPs lead nowhere yet and the volumes are attached to nothing: nobody has a subnet and wants one.',
  },
  {
    locks: 'subnets',
    text: '"available"',
    after: ['routers'],
    why: 'For the gateway of a router, which is in an external subnet: nobody locks those first.',
  },
];

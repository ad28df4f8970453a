// How the commands of operations are called. A new operation gets its command by the rule: `createFloatingIp` becomes
// "floating-ip create". The tables below are for words that would be clumsy; a test finds names that clash.
import type { OpenApiDocument, Operation } from '../src/http/openapi-document.ts';

/** Operations with no command, and why. So have deprecated ones, those that another address has, too (`...V2`), and media. */
const WITHOUT_COMMAND: Readonly<Record<string, string>> = {
  addPasskey: 'a passkey needs a browser',
  getPasskeyLoginOptions: 'a passkey needs a browser',
  getPasskeyOptions: 'a passkey needs a browser',
  getCloudTask: 'getTask answers the same',
  listTasks: 'listManagedTasks lists those of all accounts that the caller manages',
  deleteProject: 'deleteProjectWithContents does the same without --contents',
  createSecurityGroup: 'createSecurityGroupByTask does the same',
  createLbPoolMember: 'createPoolMember does the same',
  deleteLbPoolMember: 'deletePoolMember does the same',
};

/** What the words of operation IDs begin with, and the words of commands for it. The first that fits counts. */
const NOUNS: readonly (readonly [string, string])[] = [
  ['KubernetesCluster', 'cluster'],
  ['KubernetesPool', 'cluster pool'],
  ['Kubernetes', 'cluster'],
  ['PoolMember', 'load-balancer pool member'],
  ['HealthMonitor', 'load-balancer pool health-monitor'],
  ['Pool', 'load-balancer pool'],
  ['Listener', 'load-balancer listener'],
  ['L7Policy', 'load-balancer l7-policy'],
  ['L7Rule', 'load-balancer l7-policy rule'],
  ['ReservedFixedIp', 'reserved-ip'],
  ['Vip', 'reserved-ip'],
  ['FreeFloatingIp', 'floating-ip free'],
  ['TlsSecret', 'secret'],
  ['ServerGroup', 'placement-group'],
  ['Ddos', 'ddos'],
  ['Logging', 'logging'],
  ['Log', 'logging'],
  ['ApiToken', 'token'],
  ['NotificationSetting', 'reseller notification'],
  ['NotificationMail', 'reseller notification mail'],
  ['Seller', 'reseller seller'],
  ['LimitRequest', 'quota request'],
  ['QuotaList', 'quota-list'],
  ['PriceList', 'price'],
  ['FreeFeature', 'feature free'],
  ['PaidFeature', 'feature paid'],
  ['RoleAssignment', 'user role-assignment'],
  ['ClientUser', 'user'],
  ['AuditRecord', 'audit'],
  ['Platform', 'platform'],
  ['OwnLogin', 'login'],
  ['AiTask', 'ai-task'],
  ['Amqp', 'user-action amqp'],
  ['AmqpSubscription', 'user-action amqp'],
  ['UserAction', 'user-action'],
  ['ClientProduct', 'product'],
  ['DefaultProduct', 'product default'],
  ['AccountStatusChange', 'client status-change'],
  ['EgressRange', 'network egress-range'],
  ['Invitation', 'user invitation'],
  ['Interface', 'instance interface'],
  ['Reachability', 'port reachability'],
  ['LoginAttempt', 'login attempt'],
  ['Orphan', 'platform orphan'],
];

/** Commands that the rule would name badly, or had their names before it. */
const NAMES: Readonly<Record<string, string>> = {
  acknowledgeAllTasks: 'task acknowledge-all',
  actOnDdosProfile: 'ddos profile set',
  actOnInstance: 'instance act',
  addSecurityGroupRuleByTask: 'security-group rule create',
  addSnapshotSchedules: 'snapshot policy schedule add',
  assignSecurityGroup: 'instance security-group assign',
  attachSubnetToRouter: 'router subnet attach',
  changeEmail: 'user change-email',
  changeGlobalQuotas: 'quota change-global',
  changePassword: 'user change-password',
  changeRegionalQuotas: 'quota change',
  createUser: 'client create-with-user',
  createSeller: 'reseller seller invite',
  deleteProjectWithContents: 'project delete',
  detachSubnetFromRouter: 'router subnet detach',
  endOwnLogins: 'login end-all',
  failOverLoadBalancer: 'load-balancer fail-over',
  forgotPassword: 'login forgot-password',
  getAiInfo: 'ai-task languages',
  getAiTaskSubtitles: 'ai-task subtitles',
  getClientUser: 'user role',
  getCostTotals: 'usage report costs',
  getGlobalQuotas: 'quota get-global',
  getMonthlyCostTotals: 'usage report month',
  getMyAccount: 'client me',
  getPermissions: 'user permissions',
  getPrices: 'price show',
  getRegionalQuotas: 'quota get',
  getResourceCosts: 'usage report resources',
  getUsage: 'usage report used',
  getWebhookDelivery: 'webhook delivery',
  listActiveTasks: 'task active',
  listCosts: 'usage costs',
  listFlavorsForInstance: 'instance flavor list',
  listFlavorsForVolumes: 'instance flavor list-for-volumes',
  listPortsOfNetwork: 'network port list',
  listRequests: 'request-log list',
  listTaskSteps: 'task steps',
  listWebhookDeliveries: 'webhook deliveries',
  createCreditNote: 'invoice credit',
  createPayment: 'invoice pay',
  getIssuer: 'invoice issuer get',
  setIssuer: 'invoice issuer set',
  getBillingProfile: 'invoice profile get',
  setBillingProfile: 'invoice profile set',
  listManagedTasks: 'task list',
  listManagedResources: 'resource list',
  listPlatformBacklog: 'platform backlog',
  enrolForLogin: 'second-factor enrol-for-login',
  setUpTotp: 'second-factor set-up-totp',
  confirmTotp: 'second-factor confirm-totp',
  makeRecoveryCodes: 'second-factor make-recovery-codes',
  getSignInPolicy: 'client sign-in',
  setSignInPolicy: 'client set-sign-in',
  resetSecondFactors: 'user reset-second-factors',
  logInWithSecondFactor: 'login with-second-factor',
  login: 'login create',
  loginAsAdministrator: 'login as-administrator',
  loginAsUser: 'login as-user',
  loginToClient: 'login to-client',
  putInstanceIntoServerGroup: 'instance placement-group put',
  removeInstanceFromServerGroup: 'instance placement-group remove',
  removeSnapshotSchedules: 'snapshot policy schedule remove',
  requestDeletion: 'deletion-request create',
  resetAllProducts: 'product reset-all',
  resetPassword: 'login reset-password',
  // "client resume" works on the database.
  resumeClient: 'client unsuspend',
  getRunningCosts: 'client running-costs',
  rotateWebhookSecret: 'webhook rotate-secret',
  setForgottenPassword: 'login set-password',
  subscribeToUserActions: 'user-action subscribe',
  subscribeToUserActionsByAmqp: 'user-action amqp subscribe',
  unassignSecurityGroup: 'instance security-group unassign',
  unsubscribeFromUserActions: 'user-action unsubscribe',
  unsubscribeFromUserActionsByAmqp: 'user-action amqp unsubscribe',
  updateClientUser: 'user set-role',
};

/** Where help has the commands, by the tag of the operation. */
const AREAS: Readonly<Record<string, readonly string[]>> = {
  Machines: ['Instances', 'Images', 'Flavors', 'Placement groups', 'SSH keys', 'Kubernetes clusters', 'Kubernetes'],
  Storage: ['Volumes', 'Snapshots', 'Snapshot schedules', 'File shares', 'Secrets'],
  Network: [
    'Networks',
    'Ports',
    'Routers',
    'Floating IPs',
    'Reserved fixed IPs',
    'Security groups',
    'Load balancers',
    'DDoS protection',
  ],
  'AI tasks': ['AI tasks'],
  'What happens': ['Tasks', 'Events', 'Webhooks', 'Audit', 'User actions', 'Platform', 'Logging'],
  Money: ['Pricing', 'Costs'],
};

export const areaOf = ({ tags: [tag = ''] }: Operation): string =>
  Object.keys(AREAS).find((area) => AREAS[area]?.includes(tag)) ?? 'Accounts';

const VERBS: Readonly<Record<string, string>> = { update: 'change' };

/** What an operation ID is made of: `createL7Policy` of `create`, `L7` and `Policy`. */
const wordsOf = (id: string): string[] => id.replace(/ByTask$/, '').match(/^[a-z]+|[A-Z][a-z0-9]*/g) ?? [];

function singular(word: string): string {
  if (/(ss|us|is)$/.test(word)) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  return word.replace(/(?<=ss|x|ch|us)es$|s$/, '');
}

const kebab = (words: readonly string[]): string => words.join('-').toLowerCase();

const allOf = ({ paths }: OpenApiDocument): Operation[] => Object.values(paths).flatMap((each) => Object.values(each));

/** Returns why an operation has no command, if it has none. */
function reasonWithout(
  { operationId: id, deprecated, responses }: Operation,
  ids: ReadonlySet<string>,
): string | undefined {
  if (deprecated) return 'Deprecated: another operation does the same';
  if (/V\d$/.test(id) && ids.has(id.replace(/V\d$/, ''))) return 'The same operation at another address';
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const { content = { json: {} } } = success ?? { content: {} };
  if (!Object.keys(content).some((type) => /json|^text\//.test(type))) return 'A terminal shows no media';
  return WITHOUT_COMMAND[id];
}

/** Returns the operations without a command, by the reason. */
export function leftOut(operations: readonly Operation[]): Map<string, string[]> {
  const ids = new Set(operations.map(({ operationId }) => operationId));
  const left = new Map<string, string[]>();
  for (const operation of operations) {
    const reason = reasonWithout(operation, ids);
    if (reason !== undefined) left.set(reason, [...(left.get(reason) ?? []), operation.operationId]);
  }
  return left;
}

/** Returns the names of the commands of all operations that have one, by their IDs. */
export function commandNames(document: OpenApiDocument): Map<string, string> {
  const operations = allOf(document);
  const without = [...leftOut(operations).values()].flat();
  const having = operations.map(({ operationId }) => operationId).filter((id) => !without.includes(id));
  const known = new Set(having.filter((id) => /^(list|get|create)[A-Z]/.test(id)).map(nounOf));
  return new Map(having.map((id) => [id, NAMES[id] ?? nameOf(id, known)]));
}

/** The thing that an operation is about: `SecurityGroupRule`. */
function nounOf(id: string): string {
  const [, ...words] = wordsOf(id);
  return [...words.slice(0, -1), singular(words.at(-1) ?? '')].join('');
}

function nameOf(id: string, known: ReadonlySet<string>): string {
  const [verb = ''] = wordsOf(id);
  const noun = nounOf(id);
  if (/^[A-Z]\w*Price$/.test(noun)) {
    const group = verb === 'preview' ? 'price preview' : 'price';
    return `${group} ${pathOf(noun.slice(0, -'Price'.length), known).join('-')}`;
  }
  return [...pathOf(noun, known), VERBS[verb] ?? verb].join(' ');
}

/** The words that lead to a thing; a thing of another, such as a rule of a security group, is below that. */
function pathOf(noun: string, known: ReadonlySet<string>): string[] {
  const words = wordsOf(noun);
  for (const [beginning, name] of NOUNS) {
    const length = wordsOf(beginning).length;
    if (words.slice(0, length).join('') === beginning) return [...name.split(' '), ...rest(words.slice(length))];
  }
  for (let length = words.length - 1; length > 0; length--) {
    const outer = words.slice(0, length).join('');
    if (known.has(outer)) return [...pathOf(outer, known), ...rest(words.slice(length))];
  }
  return rest(words);
}

const rest = (words: readonly string[]): string[] => (words.length === 0 ? [] : [kebab(words)]);

import { ALL_RESOURCES, RESOURCES, type ResourceType } from '../lib/resources.ts';

/*
 * Every type of event: `tradewind.<resource>.<verb>`. docs/reference/event-types.md has the same list, made from this file; a test
 * compares them, and another one finds operations without a type.
 */

/** What the published log of user actions calls an action, and what has happened then. */
const VERBS: Readonly<Record<string, string>> = {
  activate: 'activated',
  attach: 'attached',
  create: 'created',
  create_access_rule: 'access_rule_created',
  deactivate: 'deactivated',
  delete: 'deleted',
  delete_access_rule: 'access_rule_deleted',
  delete_metadata: 'updated',
  detach: 'detached',
  disable_portsecurity: 'port_security_disabled',
  download: 'created',
  enable_portsecurity: 'port_security_enabled',
  failover: 'failed_over',
  put_into_servergroup: 'put_into_placement_group',
  reboot: 'rebooted',
  reboot_hard: 'power_cycled',
  regenerate_credentials: 'credentials_made',
  remove_from_servergroup: 'removed_from_placement_group',
  replace: 'replaced',
  replace_metadata: 'updated',
  resize: 'resized',
  resume: 'resumed',
  retype: 'retyped',
  revert: 'reverted',
  start: 'started',
  stop: 'stopped',
  suspend: 'suspended',
  update: 'updated',
  update_metadata: 'updated',
  upgrade: 'upgraded',
};

/** The event of an operation, and the path parameter that holds the id of its subject. */
interface OperationEvent {
  word: string;
  verb: string;
  param?: string;
  table?: string;
}

const user = { word: 'user', param: 'userId', table: 'users' };
const seller = { ...user, param: 'sellerId' };
const client = { word: 'client', param: 'clientId', table: 'clients' };
const account = { word: 'client', param: 'client_id', table: 'clients' };
const reseller = { word: 'reseller', param: 'reseller_id' };
const token = { word: 'token', param: 'tokenId' };
const feature = { word: 'feature', param: 'activatedFeatureId' };
const service = { word: 'client_service', param: 'serviceId' };
const products = { word: 'product_availability', param: 'clientId' };
const setting = {
  word: 'notification_setting',
  param: 'notificationSettingsId',
  table: 'notification_settings',
};
const quota = { word: 'quota', param: 'client_id', table: 'clients' };
const priceList = { word: 'price_list', param: 'price_list_id' };
const quotaList = { word: 'quota_list', param: 'quota_list_id' };
const subscription = { word: 'user_action_subscription' };
const webhook = { word: 'webhook', param: 'webhook_id', table: 'webhooks' };
const credentials = { word: 'cluster', verb: 'credentials_read', table: 'kubernetes_clusters' };
const login = { word: 'login', verb: 'created' };
const factor = { word: 'second_factor' };
const provider = { word: 'identity_provider', param: 'provider_id', table: 'identity_providers' };
const maintenance = { word: 'maintenance', param: 'maintenance_id' };
const budget = { word: 'budget', param: 'budget_id' };
const policy = { word: 'sign_in_policy', param: 'client_id' };

/** Operations that the published log of user actions doesn't know. */
const OPERATIONS: Readonly<Record<string, OperationEvent>> = {
  acknowledgeAllTasks: { word: 'task', verb: 'acknowledged' },
  acknowledgeTask: { word: 'task', verb: 'acknowledged', param: 'task_id' },
  acknowledgeTasks: { word: 'task', verb: 'acknowledged' },
  activateFreeFeature: { ...feature, verb: 'activated' },
  activatePaidFeature: { ...feature, verb: 'activated' },
  addPasskey: { ...factor, verb: 'added' },
  beginMaintenance: { ...maintenance, verb: 'begun' },
  cancelAiTask: { word: 'ai_task', verb: 'cancelled', param: 'task_id' },
  cancelTask: { word: 'task', verb: 'cancelled', param: 'task_id' },
  changeEmail: { ...user, verb: 'email_changed' },
  changeGlobalQuotas: { ...quota, verb: 'updated' },
  changePassword: { ...user, verb: 'password_changed' },
  changeRegionalQuotas: { ...quota, verb: 'updated' },
  confirmTotp: { ...factor, verb: 'added' },
  createAiTask: { word: 'ai_task', verb: 'created' },
  createApiToken: { ...token, verb: 'created' },
  createApiTokenV1: { ...token, verb: 'created' },
  createBudget: { ...budget, verb: 'created' },
  createClient: { ...client, verb: 'created' },
  createClientUser: { ...user, verb: 'created' },
  createCreditNote: { word: 'invoice', verb: 'credited', param: 'invoice_id' },
  createPayment: { word: 'payment', verb: 'created' },
  createPriceList: { ...priceList, verb: 'created' },
  createQuotaList: { ...quotaList, verb: 'created' },
  createNotificationSetting: { ...setting, verb: 'created' },
  createSeller: { ...seller, verb: 'invited' },
  createReseller: { ...reseller, verb: 'created' },
  createUser: { ...user, verb: 'created' },
  createIdentityProvider: { ...provider, verb: 'created' },
  createWebhook: { ...webhook, verb: 'created' },
  deactivateFreeFeature: { ...feature, verb: 'deactivated' },
  deactivatePaidFeature: { ...feature, verb: 'deactivated' },
  deleteApiToken: { ...token, verb: 'deleted' },
  deleteApiTokenV1: { ...token, verb: 'deleted' },
  deleteBudget: { ...budget, verb: 'deleted' },
  deleteClient: { ...account, verb: 'deletion_requested' },
  deleteNotificationSetting: { ...setting, verb: 'deleted' },
  deletePriceList: { ...priceList, verb: 'deleted' },
  deleteQuotaList: { ...quotaList, verb: 'deleted' },
  deleteProjectWithContents: { word: 'project', verb: 'deletion_begun', param: 'project_id', table: 'projects' },
  deleteQuotaThreshold: { ...quota, verb: 'threshold_removed' },
  deleteReseller: { ...reseller, verb: 'deletion_begun' },
  deleteSeller: { ...seller, verb: 'deleted' },
  deleteUser: { ...user, verb: 'deleted' },
  deleteIdentityProvider: { ...provider, verb: 'deleted' },
  deleteWebhook: { ...webhook, verb: 'deleted' },
  endMaintenance: { ...maintenance, verb: 'ended' },
  endOwnLogin: { word: 'login', verb: 'ended', param: 'login_id' },
  endOwnLogins: { word: 'login', verb: 'ended' },
  getInstanceConsole: { word: 'instance', verb: 'console_opened', param: 'instance_id', table: 'instances' },
  getKubernetesCertificates: credentials,
  getKubernetesCertificatesV2: credentials,
  getKubernetesConfig: credentials,
  getKubernetesConfigV2: credentials,
  getPasskeyOptions: { ...factor, verb: 'begun' },
  inviteUser: { ...user, verb: 'invited' },
  loginAsAdministrator: login,
  loginAsUser: login,
  loginToClient: login,
  makeRecoveryCodes: { ...factor, verb: 'codes_made' },
  patchClientService: { ...service, verb: 'updated' },
  redeliverWebhook: { ...webhook, verb: 'redelivered' },
  removeClientUser: { ...user, verb: 'removed' },
  removeSecondFactor: { ...factor, verb: 'removed', param: 'second_factor_id' },
  renewInvitation: { ...user, verb: 'invited' },
  replaceNotificationSetting: { ...setting, verb: 'updated' },
  requestDeletion: { word: 'deletion_request', verb: 'created' },
  resetPassword: { ...user, verb: 'password_reset' },
  resetAllProducts: { word: 'product_availability', verb: 'reset' },
  resetClientProducts: { ...products, verb: 'reset' },
  resetSecondFactors: { ...user, verb: 'second_factors_reset', param: 'user_id' },
  resumeClient: { ...account, verb: 'resumed' },
  rotateWebhookSecret: { ...webhook, verb: 'secret_rotated' },
  setBillingProfile: { word: 'billing_profile', verb: 'updated' },
  setIssuer: { word: 'issuer', verb: 'updated' },
  setClientProduct: { ...products, verb: 'updated' },
  setDefaultProduct: { word: 'product_availability', verb: 'updated' },
  setQuotaThreshold: { ...quota, verb: 'threshold_set' },
  setSignInPolicy: { ...policy, verb: 'updated' },
  setUpTotp: { ...factor, verb: 'begun' },
  subscribeToUserActions: { ...subscription, verb: 'created' },
  suspendClient: { ...account, verb: 'paused' },
  testWebhook: { ...webhook, verb: 'tested' },
  unsubscribeFromUserActions: { ...subscription, verb: 'deleted' },
  updateBudget: { ...budget, verb: 'updated' },
  updateClient: { ...client, verb: 'updated' },
  updateClientService: { ...service, verb: 'updated' },
  updateClientUser: { ...user, verb: 'updated' },
  updateNotificationSetting: { ...setting, verb: 'updated' },
  updateSeller: { ...seller, verb: 'updated' },
  updateUser: { ...user, verb: 'updated' },
  updateIdentityProvider: { ...provider, verb: 'updated' },
  updateWebhook: { ...webhook, verb: 'updated' },
  withdrawDeletionRequest: { word: 'deletion_request', verb: 'deleted' },
};

/** Commands of the operator that change something. */
const COMMANDS: Readonly<Record<string, OperationEvent>> = {
  'catalog apply': { word: 'catalog', verb: 'applied' },
  'client pause': { ...client, verb: 'paused' },
  'client resume': { ...client, verb: 'resumed' },
  console: { word: 'login', verb: 'code_made' },
  'keys give-up': { word: 'encryption_key', verb: 'given_up' },
  'keys rotate': { word: 'encryption_key', verb: 'rotated' },
  'orphans remove': { word: 'orphan', verb: 'removed' },
  'token create': { ...token, verb: 'created' },
  'user password': { ...user, verb: 'password_changed' },
};

export const RECORDED_COMMANDS: readonly string[] = Object.keys(COMMANDS);

/** Written by triggers: see migrations/0062_events.ts. */
export const TASK_EVENTS = [
  'tradewind.task.created',
  'tradewind.task.started',
  'tradewind.task.progressed',
  'tradewind.task.finished',
  'tradewind.task.failed',
  'tradewind.ai_task.started',
  'tradewind.ai_task.finished',
  'tradewind.ai_task.failed',
];

/** Written by workers: see tradewind/webhooks/sending. */
export const WEBHOOK_DISABLED = 'tradewind.webhook.disabled';
/** Sent to the webhook that is tested, whatever types it has. */
export const WEBHOOK_TEST = 'tradewind.webhook.test';

/** Written by workers: see tradewind/deletions/work. */
export const CLIENT_DELETED = 'tradewind.client.deleted';

/** Written by workers and by payments: see cloud/money/invoices. */
export const INVOICE_FINALIZED = 'tradewind.invoice.finalized';
export const INVOICE_PAID = 'tradewind.invoice.paid';

/** Written by workers: see cloud/money/costs. */
export const USAGE_CLOSED = 'tradewind.usage.closed';

/** Written by workers: see cloud/money/budgets. */
export const BUDGET_REACHED = 'tradewind.budget.reached';

/** What only administrators of an account are told of. */
export const ADMINISTRATIVE: ReadonlySet<string> = new Set([
  'billing_profile',
  'budget',
  'catalog',
  'client',
  'client_service',
  'encryption_key',
  'feature',
  'invoice',
  'issuer',
  'identity_provider',
  'login',
  'maintenance',
  'notification_setting',
  'orphan',
  'payment',
  'price_list',
  'product_availability',
  'quota_list',
  'reseller',
  'second_factor',
  'sign_in_policy',
  'token',
  'user',
  'user_action_subscription',
  'webhook',
  ...ALL_RESOURCES.flatMap(([, { word, administrative }]) => (administrative ? [word] : [])),
]);

/** Returns the word of a resource in types and subjects, and its table if that has revisions. */
export function resourceOf(type: ResourceType): { word: string; table: string | undefined } {
  const { word, table, revised } = RESOURCES[type];
  return { word, table: revised ? table : undefined };
}

/** Returns the event of an operation by its name, if it is listed. */
export const eventOfOperation = (operationId: string): OperationEvent | undefined => OPERATIONS[operationId];

/** Returns the event of a command. @throws for one that is not listed */
export function eventOfCommand(name: string): OperationEvent {
  const event = COMMANDS[name];
  if (!event) throw new Error(`The command ${name} has no event`);
  return event;
}

export const typeOf = (word: string, verb: string): string => `tradewind.${word}.${verb}`;

/** Written by workers, as the cards say: each type with what causes it. */
export const TOLD: readonly [type: string, cause: string][] = ALL_RESOURCES.flatMap(([, { word, tells }]) =>
  Object.entries(tells ?? {}).map(([verb, cause]): [string, string] => [typeOf(word, verb), cause]),
);

/** Returns the verb for what the log of user actions calls `action`. */
export const verbOf = (action: string): string | undefined => VERBS[action];

/** Whether only an administrator may see events of that type. */
export const isAdministrative = (type: string): boolean => ADMINISTRATIVE.has(type.split('.')[1] ?? '');

import type { Addition, ApiCommand } from '../api/api-command.ts';
import type { OperationId } from '../api/operations.ts';
import { THINGS } from './lookup.ts';

const ROLE = {
  text: 'Administrators, Engineers, Users or the name of another role',
  value: 'ROLE',
};
const USER_ROLE = { ...ROLE, at: ['user_role', 'name'] };

/** --url is the address of the server. */
const RECEIVER: Addition = {
  parts: { receiver: { at: ['url'], text: 'Where events are sent to', value: 'URL' } },
  without: ['url'],
};

/** An account by position, so that nobody decides about the account of the token by leaving it out. */
const ONE_CLIENT = { arguments: ['clientId'] };
const PRODUCTS = { PRODUCT: 'product_name', AVAILABLE: 'available' };

const USAGE = {
  CLIENT: 'client_id',
  PROJECT: 'project_id',
  DAY: 'day',
  RESOURCE: 'name',
  REGION: 'region_id',
  TYPE: 'type',
  KIND: 'kind',
  QUANTITY: 'quantity',
  UNIT: 'unit',
};
const COST = { COST: 'cost', CURRENCY: 'currency', ERROR: 'err' };
/** The reports of the published contract. */
const REPORT = {
  TYPE: 'type',
  REGION: 'region_id',
  METRIC: 'billing_metric_name',
  VALUE: 'billing_value',
  UNIT: 'billing_value_unit',
};
const RESOURCE = { NAME: 'last_name', ...REPORT, FROM: 'first_seen', TO: 'last_seen' };

const LOAD = {
  TIME: 'time',
  'CPU %': 'cpu_util',
  'MEMORY %': 'memory_util',
  'IN B/S': 'network_Bps_ingress',
  'OUT B/S': 'network_Bps_egress',
};
const MACHINES: Addition = {
  columns: { ID: 'id', NAME: 'name', STATUS: 'status', FLAVOR: 'flavor.flavor_id', CREATED: 'created_at' },
};

/** What some commands have besides what the OpenAPI document says of their operations. */
export const additions: Partial<Record<OperationId, Addition>> = {
  listClients: {
    columns: { ID: 'id', COMPANY: 'companyName', EMAIL: 'email', STATUS: 'status', DELETED: 'deleted' },
  },
  deleteClient: {
    help: 'Shows what the account holds, and a confirmation. With that in --confirmation, within ten minutes, it deletes all of it.',
  },
  listUsers: { columns: { ID: 'id', EMAIL: 'email', NAME: 'name', ROLES: 'groups', ACTIVE: 'is_active' } },
  createClientUser: {
    summary: 'Create a user with a password',
    parts: { role: { ...USER_ROLE, default: 'Users' } },
    without: ['user_role'],
  },
  inviteUser: {
    parts: {
      role: USER_ROLE,
      client: {
        at: ['client_id'],
        text: 'Client ID (that of the token)',
        value: 'ID',
        type: 'integer',
        ownClient: true,
      },
    },
    without: ['user_role', 'client_id'],
  },
  updateClientUser: { parts: { role: USER_ROLE }, without: ['user_role'] },
  listApiTokens: {
    columns: {
      ID: 'id',
      NAME: 'name',
      USER: 'client_user.user_email',
      ROLE: 'client_user.role.name',
      EXPIRES: 'exp_date',
      USED: 'last_usage',
    },
  },
  createApiToken: {
    summary: 'Create an API token and show it once',
    help: 'With a token of yours, the server makes it. Without one, this command works on the database; "tradewind token create --help" then has other options.',
    parts: {
      role: {
        at: ['client_user', 'role', 'name'],
        text: 'Administrators, Engineers or Users',
        value: 'ROLE',
        default: 'Administrators',
      },
      expires: { at: ['exp_date'], text: 'When it stops working (never)', value: 'TIME' },
    },
    body: { exp_date: null },
    without: ['client_user', 'exp_date'],
    only: 'token',
  },
  listResellers: {
    columns: { ID: 'id', NAME: 'name', CLIENT: 'client_id', CLIENTS: 'clients', CREATED: 'created_at' },
  },
  listSellers: {
    columns: { ID: 'id', EMAIL: 'email', NAME: 'full_name', ACTIVATED: 'activated', DELETED: 'deleted' },
  },
  listNotificationSettings: {
    columns: { ID: 'id', TYPE: 'notification_type', EMAIL: 'email', ENABLED: 'enabled' },
  },
  listClientProducts: { ...ONE_CLIENT, columns: PRODUCTS },
  setClientProduct: {
    ...ONE_CLIENT,
    help: 'From then on the default counts no more for the client: "tradewind product reset" lets it count again.',
  },
  resetClientProducts: ONE_CLIENT,
  listDefaultProducts: { columns: PRODUCTS },
  setDefaultProduct: { help: 'For clients of your reseller for whom nothing else was set.' },
  listProjects: {
    columns: { ID: 'id', NAME: 'name', STATE: 'state', DEFAULT: 'is_default', CREATED: 'created_at' },
  },
  listRegions: { columns: { ID: 'id', NAME: 'display_name', STATE: 'state', COUNTRY: 'country' } },
  listManagedTasks: {
    help: 'The newest first, of all accounts that you manage. "tradewind find" shows what was done with one thing.',
    columns: {
      ID: 'id',
      TYPE: 'task_type',
      STATE: 'state',
      CLIENT: 'client_id',
      CREATED: 'created_on',
      'WAITS FOR': 'waits_for.doing',
      ERROR: 'error',
    },
  },
  listManagedResources: { columns: THINGS },
  listPlatformBacklog: {
    columns: {
      REGION: 'region_id',
      BACKEND: 'backend',
      KIND: 'kind',
      WAITING: 'waiting',
      RUNNING: 'running',
      FAILING: 'failing',
      'DUE SINCE': 'oldest_due_since',
    },
  },
  listTaskSteps: { columns: { KIND: 'kind', ID: 'id', STATE: 'state', DOING: 'doing', FAILURES: 'failures' } },
  listWebhooks: { columns: { ID: 'id', URL: 'url', TYPES: 'types', ENABLED: 'enabled', FAILING: 'failing_since' } },
  createWebhook: RECEIVER,
  updateWebhook: RECEIVER,
  listWebhookDeliveries: {
    columns: {
      ID: 'id',
      TYPE: 'type',
      SUBJECT: 'subject',
      STATE: 'state',
      ATTEMPTS: 'attempts',
      STATUS: 'response_status',
      ERROR: 'error',
    },
  },
  getPrices: {
    columns: {
      ITEM: 'item',
      REGION: 'region_id',
      HOUR: 'per_hour',
      MONTH: 'per_month',
      GB: 'per_gb',
      LIST: 'price_list_id',
    },
    rows: 'prices',
  },
  listPriceLists: {
    columns: {
      ID: 'id',
      PRICE: 'price',
      SCOPE: 'scope',
      RESELLER: 'reseller_id',
      CLIENT: 'client_id',
      FROM: 'valid_from',
      DISCOUNT: 'discount_percent',
      TAX: 'tax_percent',
      CURRENCY: 'currency',
    },
  },
  listExternalAddresses: {
    columns: {
      REGION: 'region_id',
      NETWORK: 'network_name',
      PREFIX: 'cidr',
      TOTAL: 'total',
      'IN USE': 'in_use',
      FREE: 'free',
      KEPT: 'kept',
    },
  },
  getRegionalQuotas: { summary: 'Get the quotas of an account in a region' },
  listLimitRequests: {
    columns: { ID: 'id', CLIENT: 'client_id', STATUS: 'status', DESCRIPTION: 'description', CREATED: 'created_at' },
  },
  listBudgets: {
    columns: {
      ID: 'id',
      CLIENT: 'client_id',
      PROJECT: 'project_id',
      'SET BY': 'set_by',
      AMOUNT: 'amount',
      SPENT: 'spent',
      CURRENCY: 'currency',
      MONTH: 'month',
      'IS SPENT': 'is_spent',
      STOPS: 'stops_creation',
    },
  },
  listMaintenances: {
    columns: {
      ID: 'id',
      REGION: 'region_id',
      BACKEND: 'backend',
      DRAINED: 'drained',
      UNFINISHED: 'unfinished',
      FAILING: 'failing',
      SINCE: 'created_at',
      REASON: 'reason',
    },
  },
  listInvoices: {
    columns: {
      ID: 'id',
      NUMBER: 'number',
      KIND: 'kind',
      STATE: 'state',
      MONTH: 'month',
      CLIENT: 'client_id',
      RESELLER: 'reseller_id',
      GROSS: 'gross',
      DUE: 'due',
      CURRENCY: 'currency',
    },
  },
  listUsage: { columns: USAGE },
  listCosts: { columns: { ...USAGE, ...COST } },
  getUsage: { rows: 'resources', columns: RESOURCE },
  getInstanceMetrics: { columns: { ...LOAD, DISKS: 'disks' } },
  getLoadBalancerMetrics: { columns: LOAD },
  getCostTotals: { columns: { ...REPORT, ...COST } },
  getResourceCosts: { columns: { ...RESOURCE, ...COST } },
  getMonthlyCostTotals: { columns: { ...REPORT, ...COST } },
  getInstanceConsole: { only: 'remote_console.url' },
  listInstances: MACHINES,
  listKubernetesClusterInstances: MACHINES,
  listKubernetesPoolInstances: MACHINES,
  listSecurityGroupInstances: MACHINES,
  listAiTasks: {
    columns: { ID: 'task_id', TASK: 'task_data.task_name', STATUS: 'status', PROGRESS: 'progress' },
  },
  listAuditRecords: {
    columns: {
      ID: 'id',
      TIME: 'time',
      WHO: 'actor.email',
      TOKEN: 'actor.token.name',
      FROM: 'source.address',
      OPERATION: 'operation',
      SUBJECT: 'subject',
      OUTCOME: 'outcome',
      STATUS: 'status',
    },
  },
};

/** What "act" can do with a machine, each a command. */
export const actions: readonly ApiCommand[] = ['start', 'stop', 'reboot', 'reboot_hard', 'suspend', 'resume'].map(
  (action) => ({
    name: `instance ${action.replace('_', '-')}`,
    operation: 'actOnInstance',
    summary:
      action === 'reboot_hard'
        ? 'Reboot an instance at once'
        : `${action.charAt(0).toUpperCase()}${action.slice(1)} an instance`,
    fixed: { action },
    without: action === 'start' ? ['action'] : ['action', 'activate_profile'],
  }),
);

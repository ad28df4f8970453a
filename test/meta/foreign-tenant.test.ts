import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { every } from '../support/every.ts';
import { finishAiTask } from '../support/finished-ai-tasks.ts';
import type { HttpClient } from '../support/http-client.ts';
import {
  type DocumentedOperation,
  documentedOperations,
  exampleBody,
  filledPath,
  requiredQuery,
  UNSUPPORTED,
} from '../support/openapi.ts';
import { createPossessions, type Possessions } from '../support/possessions.ts';
import { addReseller, type TestReseller } from '../support/reseller.ts';
import { startService, type Tenant, type TestService } from '../support/service.ts';

/** Operations whose address belongs to no tenant, with the reason. All others are tested below. */
const NAMES_NO_TENANT: Record<string, string> = {
  listRegions: 'the catalogue is the same for all',
  getRegion: 'the catalogue is the same for all',
  listDdosTemplates: 'the catalogue is the same for all',
  getDdosAccessibility: 'the catalogue is the same for all',
  getDdosCoverage: 'the catalogue is the same for all',
  listLoggingDestinations: 'the catalogue is the same for all',
  listLoggingHosts: 'the catalogue is the same for all',
  listKafkaHosts: 'the catalogue is the same for all',
  listOpensearchHosts: 'the catalogue is the same for all',
  listEgressRanges: 'is the same for everybody',
  getLoggingPrice: 'works on the own account; tested beside the code',
  getDdosPrice: 'works on the own account; tested beside the code',
  getCostTotals: 'works on the own account; tested beside the code',
  getMonthlyCostTotals: 'works on the own account; tested beside the code',
  getResourceCosts: 'works on the own account; tested beside the code',
  getUsage: 'works on the own account; tested beside the code',
  getAiInfo: 'describes the kinds of tasks',
  listFeatures: 'the catalogue is the same for all',
  getFeature: 'the catalogue is the same for all',
  listProjects: 'works on the own account; see "lists"',
  listUserActions: 'works on the own account; tested beside the code',
  listRequests: 'works on the own account; tested beside the code',
  listEvents: 'works on the own account; tested beside the code',
  listAuditRecords: 'works on the own account; tested beside the code',
  listWebhooks: 'works on the own account; tested beside the code',
  createWebhook: 'makes something of the own account',
  listPriceLists: 'works on the clients of a reseller; tested beside the code',
  createPriceList: 'works on the clients of a reseller; tested beside the code',
  listQuotaLists: 'works on the clients of a reseller; tested beside the code',
  createQuotaList: 'is for the platform; tested beside the code',
  getQuotaList: 'is for resellers; tested beside the code',
  deleteQuotaList: 'is for the platform; tested beside the code',
  getPriceList: 'is for resellers; tested beside the code',
  deletePriceList: 'is for resellers; tested beside the code',
  listUsage: 'works on the own account; tested beside the code',
  listCosts: 'works on the own account; tested beside the code',
  listMaintenances: 'is for the platform administrator; tested beside the code',
  beginMaintenance: 'is for the platform administrator; tested beside the code',
  endMaintenance: 'is for the platform administrator; tested beside the code',
  listBudgets: 'works on the own account; tested beside the code',
  createBudget: 'works on the own account; tested beside the code',
  listInvoices: 'works on the own account; tested beside the code',
  getInvoice: 'only work on a month makes one; tested beside the code',
  createCreditNote: 'only work on a month makes one; tested beside the code',
  createPayment: 'is for who issued an invoice; tested beside the code',
  getIssuer: 'works on the own reseller; tested beside the code',
  setIssuer: 'works on the own reseller; tested beside the code',
  getBillingProfile: 'works on the own account; tested beside the code',
  setBillingProfile: 'works on the own account; tested beside the code',
  getPrices: 'works on the own account; tested beside the code',
  subscribeToUserActions: 'works on the own account; tested beside the code',
  listUserActionSubscriptions: 'works on the own account; tested beside the code',
  unsubscribeFromUserActions: 'works on the own account; tested beside the code',
  subscribeToUserActionsByAmqp: 'is always refused',
  tryAmqp: 'is always refused',
  listAmqpSubscriptions: 'is always empty',
  unsubscribeFromUserActionsByAmqp: 'does nothing',
  listAiTaskKinds: 'describes the kinds of tasks',
  listAiTasks: 'works on the own account; see "lists"',
  listPaidFeatures: 'works on the own account; see "lists"',
  listFreeFeatures: 'works on the own account; see "lists"',
  getMyAccount: 'works on the own account; see "lists"',
  listUsers: 'works on the own account; see "lists"',
  listClients: 'works on the clients of a reseller; tested beside the code',
  listDefaultProducts: 'works on the own reseller; tested beside the code',
  setDefaultProduct: 'works on the own reseller; tested beside the code',
  resetAllProducts: 'works on the own reseller; tested beside the code',
  listSellers: 'works on the sellers of a reseller; tested beside the code',
  createSeller: 'makes something of the own account',
  listResellers: 'is for the platform administrator; tested beside the code',
  createReseller: 'is for the platform administrator; tested beside the code',
  listPlatformProcesses: 'is for the platform administrator; tested beside the code',
  listPlatformQueues: 'is for the platform administrator; tested beside the code',
  listPlatformBacklog: 'is for the platform administrator; tested beside the code',
  listManagedTasks: 'works on the accounts of the caller; tested beside the code',
  listManagedResources: 'works on the accounts of the caller; tested beside the code',
  search: 'works on the accounts of the caller; tested beside the code',
  listPlatformChecks: 'is for the platform administrator; tested beside the code',
  listExternalAddresses: 'is for the platform administrator; tested beside the code',
  listOrphans: 'is for the platform administrator; tested beside the code',
  listOwnLogins: 'works on the own logins; tested beside the code',
  endOwnLogins: 'works on the own logins; tested beside the code',
  listSecondFactors: 'works on the own login; tested beside the code',
  setUpTotp: 'works on the own login; tested beside the code',
  confirmTotp: 'works on the own login; tested beside the code',
  getPasskeyOptions: 'works on the own login; tested beside the code',
  addPasskey: 'works on the own login; tested beside the code',
  makeRecoveryCodes: 'works on the own login; tested beside the code',
  removeSecondFactor: 'works on the own login; tested beside the code',
  logInWithSecondFactor: 'is asked before there is a tenant',
  getPasskeyLoginOptions: 'is asked before there is a tenant',
  enrolForLogin: 'is asked before there is a tenant',
  listIdentityProviders: 'works on the own account; tested beside the code',
  createIdentityProvider: 'makes something of the own account',
  getPermissions: 'is about the caller; tested beside the code',
  listLoginAttempts: 'works on the own account; tested beside the code',
  listAccountRequests: 'works on the own account; tested beside the code',
  listAccountStatusChanges: 'works on the own account; tested beside the code',
  getDeletionRequest: 'works on the own account; tested beside the code',
  requestDeletion: 'works on the own account; tested beside the code',
  withdrawDeletionRequest: 'works on the own account; tested beside the code',
  renewInvitation: 'names an address; tested beside the code',
  resetPassword: 'names an address; tested beside the code',
  acceptInvitation: 'is asked before there is a tenant',
  setForgottenPassword: 'is asked before there is a tenant',
  readMailedLink: 'is asked before there is a tenant',
  changeMailSubscription: 'is asked before there is a tenant',
  confirmDeletionRequest: 'is asked before there is a tenant',
  login: 'is asked before there is a tenant',
  refreshLogin: 'is asked before there is a tenant',
  forgotPassword: 'is asked before there is a tenant',
  createAiTask: 'makes something of the own account',
  createProject: 'makes something of the own account',
  createRoleAssignment: 'names a user; tested beside the code',
  listAccountUsers: 'works on the own account; tested beside the code',
  listRoleAssignments: 'works on the own account; tested beside the code',
  listAssignableRoles: 'is the same for everybody',
  listQuotas: 'works on the own account; tested beside the code',
  createLimitRequest: 'makes something of the own account',
  listLimitRequests: 'works on the own account; tested beside the code',
  listTasks: 'works on the own account; see "lists"',
  acknowledgeAllTasks: 'works on the own account',
  acknowledgeTasks: 'works on the own account',
};

/** Ask about a name that anybody may have. */
const NAMES_NOTHING = ['checkLoggingNamespace'];

const operations = await documentedOperations();
const tested = operations.filter(({ operation }) => !(operation.operationId in NAMES_NO_TENANT));
const inProjects = tested.filter(
  ({ path, operation }) =>
    /\{project_id\}.*\{(?!region_id)[a-z_]+\}/.test(path) && !NAMES_NOTHING.includes(operation.operationId),
);

let service: TestService;
let other: Tenant;
let rival: TestReseller;
let possessions: Possessions;
beforeAll(async () => {
  service = await startService();
  possessions = createPossessions(service.http);
  await possessions.makeFor(operations);
  await finishAiTask(service.pool, String(possessions.values.transcribed_task_id));
  other = await service.otherTenant();
  rival = await addReseller(service, 'Rival');
});
afterAll(() => service.stop());

it('leaves out nothing that a path names', () => {
  const left = operations.filter(({ operation }) => operation.operationId in NAMES_NO_TENANT);
  expect(new Set(left.map(({ operation }) => operation.operationId))).toEqual(new Set(Object.keys(NAMES_NO_TENANT)));
  const naming = /\{(project_id|clientId|resellerId|task_id|activatedFeatureId)\}/;
  expect(left.filter(({ path }) => naming.test(path))).toEqual([]);
});

describe('the property of the first account', () => {
  it('is to another tenant as if nothing were there, whatever the operation', async () => {
    expect(tested.length).toBeGreaterThan(operations.length / 2);
    await every(tested, async (of) => {
      const answer = await asOther(of, possessions.of(of));
      const advice = 'An operation whose address belongs to no tenant is listed in NAMES_NO_TENANT, above';
      expect(refusals(of), `${answer.text}\n${advice}`).toContain(answer.status);
    });
  });

  it('is not found in a project of the other tenant', async () => {
    expect(inProjects.length).toBeGreaterThan(tested.length / 2);
    await every(inProjects, async (of) => {
      const values = { ...possessions.of(of), project_id: other.projectId };
      const answer = await asOther(of, values);
      expect(answer.status, answer.text).toBe(404);
    });
  });

  it('is answered to another tenant as an unknown id is', async () => {
    await every(inProjects, async (of) => {
      const foreign = await asOther(of, possessions.of(of));
      const unknown = await asOther(of, { project_id: 999_999, region_id: 1 });
      const shape = ({ status, body }: typeof foreign) => ({
        status,
        class: body.exception_class,
        keys: Object.keys(body),
      });
      expect(shape(foreign)).toEqual(shape(unknown));
    });
  });
});

it('what a reseller administers is refused to another reseller', async () => {
  const resold = tested.filter(({ path }) => /^\/iam\/(admin|reselling)\//.test(path));
  await every(resold, async (of) => {
    const answer = await as(rival.http, of, possessions.of(of));
    // An activation names the client in its body, where an unknown value is 400.
    if (of.operation.requestBody && answer.status === 400) expect(answer.text).toContain('Client with id:1 ');
    else expect([403, 404], answer.text).toContain(answer.status);
  });
});

it('lists show only what is the own', async () => {
  await every(reasoned('lists'), async (of) => {
    const stranger = of.path.startsWith('/iam/admin/') ? rival : other;
    const own = await service.http.get(filledPath(of));
    const others = await stranger.http.get(filledPath(of));
    expect([own.status, others.status]).toEqual([200, 200]);
    expect(idsIn(own.body).length).toBeGreaterThan(0);
    expect(idsIn(own.body).filter((id) => idsIn(others.body).includes(id))).toEqual([]);
  });
});

it('leaves the first account everything it had', async () => {
  const reads = tested.filter(
    ({ method, path, operation }) =>
      method === 'GET' && path.includes('{') && !UNSUPPORTED.includes(operation.operationId),
  );
  expect(reads.length).toBeGreaterThan(20);
  await every(reads, async (of) => {
    const answer = await service.http.get(filledPath(of, possessions.of(of)) + requiredQuery(of, possessions.of(of)));
    expect(answer.status, answer.text).toBe(200);
  });
});

function asOther(of: DocumentedOperation, values: Record<string, string | number>) {
  return as(other.http, of, values);
}

function as(http: HttpClient, of: DocumentedOperation, values: Record<string, string | number>) {
  const body = of.operation.requestBody ? { body: exampleBody(of) } : {};
  return http.request(of.method, filledPath(of, values) + requiredQuery(of, values), body);
}

function reasoned(word: string) {
  const because = ({ operation }: DocumentedOperation) => NAMES_NO_TENANT[operation.operationId] ?? '';
  return operations.filter((of) => because(of).includes(word));
}

/** Returns the ids in a list, or of the account itself. */
function idsIn(body: { id?: number; results?: { id: number }[] }): (number | string)[] {
  const items = Array.isArray(body) ? body : (body.results ?? [body]);
  return items.map((item: { id?: number; task_id?: string }) => item.id ?? item.task_id ?? 'none');
}

/**
 * Questions that an account may not ask at all are 403; those that it may ask about its own things are 404
 * for others.
 */
function refusals({ path }: DocumentedOperation): number[] {
  return /^\/(iam|tradewind\/v1\/(clients|resellers))\//.test(path) ? [403, 404] : [404];
}

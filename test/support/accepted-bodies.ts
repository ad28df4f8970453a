import type { HttpClient } from './http-client.ts';
import { anyEmail, comes, invite, newPerson, PASSWORD, type Person } from './logins.ts';
import { type DocumentedOperation, exampleBody, type Values } from './openapi.ts';
import { anyName, clusterBody, tasksIn } from './possessions.ts';
import { addApp, addPasskey, codeAt, softAuthenticator } from './second-factors.ts';
import { tlsBundle } from './tls-bundles.ts';

const PAGES = { origin: 'https://console.example.com', rpId: 'console.example.com' };
/** The public address of a server that has passkeys. */
export const WITH_PASSKEYS = { TRADEWIND_PUBLIC_URL: PAGES.origin };

/** Prepares operations of second factors, each for a new user who has what it needs. */
const OF_FACTORS: Record<string, (person: Person, http: HttpClient) => Promise<{ values?: Values; body?: object }>> = {
  listSecondFactors: async () => ({}),
  setUpTotp: async () => ({ body: { password: PASSWORD } }),
  async confirmTotp({ http }) {
    const { body } = await http.post('/tradewind/v1/second_factors/totp', { password: PASSWORD });
    return { body: { code: codeAt(body.uri, Date.now()) } };
  },
  getPasskeyOptions: async () => ({ body: { password: PASSWORD } }),
  async addPasskey({ http }) {
    const { body } = await http.post('/tradewind/v1/second_factors/passkey_options', { password: PASSWORD });
    return { body: { name: 'Laptop', passkey: softAuthenticator(PAGES).create(body) } };
  },
  async makeRecoveryCodes(person) {
    await addApp(person);
    return { body: { password: PASSWORD } };
  },
  async removeSecondFactor(person) {
    const { id } = await addApp(person);
    return { values: { second_factor_id: id }, body: { password: PASSWORD } };
  },
  async logInWithSecondFactor(person, http) {
    const { codes } = await addApp(person);
    return { body: { challenge: await challengeOf(person, http), recovery_code: codes[0] } };
  },
  async getPasskeyLoginOptions(person, http) {
    await addPasskey(person, softAuthenticator(PAGES));
    return { body: { challenge: await challengeOf(person, http) } };
  },
  async enrolForLogin(person, http) {
    await http.put(`/tradewind/v1/clients/${person.clientId}/sign_in_policy`, { second_factor: 'required' });
    return { body: { challenge: await challengeOf(person, http) } };
  },
};

async function challengeOf({ email }: Person, http: HttpClient): Promise<string> {
  const { body } = await http.post('/iam/auth/jwt/login', { username: email, password: PASSWORD });
  return body.challenge;
}

/** Prepares operations that need the user's own password, and so a logged-in user. */
export async function ownAccount(of: DocumentedOperation, http: HttpClient) {
  const prepare = OF_FACTORS[of.operation.operationId];
  if (prepare) {
    const person = await newPerson(http);
    const { values = {}, body } = await prepare(person, http);
    return { values, body, headers: { authorization: `Bearer ${person.pair.access}` } };
  }
  if (!['changePassword', 'changeEmail'].includes(of.operation.operationId)) return undefined;
  const { userId, pair } = await newPerson(http);
  const example = exampleBody(of) as object;
  const body = 'new_email' in example ? { ...example, new_email: anyEmail() } : example;
  return { values: { userId }, body, headers: { authorization: `Bearer ${pair.access}` } };
}

export const updatesCluster = ({ operation }: DocumentedOperation): boolean =>
  operation.operationId.startsWith('updateKubernetesCluster');

/** Returns the documented example of a change; what it refers to exists. */
export function bodyOfChange(
  of: DocumentedOperation,
  { port_id, file_share_id, ssh_key_id, volume_id, assigned_user_id }: Values,
): unknown {
  if (of.operation.operationId === 'updateRoleAssignment')
    return { ...(exampleBody(of) as object), user_id: assigned_user_id };
  if (of.path.endsWith('_volumes_to_policy') || of.path.endsWith('_volumes_from_policy'))
    return { volume_ids: [volume_id] };
  if (of.path.endsWith('/connected_devices')) return { port_ids: [port_id] };
  const body = exampleBody(of);
  if (!updatesCluster(of)) return body;
  const { add_ons, ...others } = body as { add_ons: { slurm: object } };
  return { add_ons: { slurm: { ...add_ons.slurm, file_share_id, ssh_key_ids: [ssh_key_id] } }, ...others };
}

/** Bodies that name things, by operation. */
const NAMING: Record<string, ((values: Values) => object) | undefined> = {
  previewSnapshotPolicyPrice: ({ volume_id }) => ({ volume_ids: [volume_id] }),
  askReachability: ({ port_id, group_id }) => ({
    from: ['internet'],
    to: [port_id],
    drafts: [{ security_group_id: group_id, rules: [{ direction: 'ingress' }] }],
  }),
};

/**
 * Returns the documented example with a unique name; what it refers to exists, and an upgrade has a newer
 * version.
 */
export async function bodyOfPost(of: DocumentedOperation, http: HttpClient, values: Values): Promise<unknown> {
  if (of.operation.operationId.startsWith('createKubernetesCluster')) return clusterBody(http);
  if (of.operation.operationId.startsWith('upgradeKubernetesCluster')) {
    const versions = await http.get(`/cloud/v1/k8s/clusters/1/1/${values.cluster_name}/upgrade_versions`);
    return versions.body.results.at(-1);
  }
  if (of.operation.operationId === 'detachInterface') {
    const { body } = await http.get(`/cloud/v1/instances/1/1/${values.instance_id}/interfaces`);
    const { port_id, ip_assignments } = body.results.at(-1);
    return { port_id, ip_address: ip_assignments[0].ip_address };
  }
  const { operationId } = of.operation;
  if (operationId === 'createRoleAssignment') {
    const user_id = await comes({ http, clientId: 1 }, anyEmail(), { name: 'Users' });
    return { ...(exampleBody(of) as object), user_id };
  }
  if (operationId === 'removeSnapshotSchedules') {
    const { body } = await http.get(`/cloud/v1/lifecycle_policy/1/1/${values.policy_id}`);
    return { schedule_ids: [body.schedules.at(-1).id] };
  }
  const naming = NAMING[operationId];
  if (naming) return naming(values);
  if (operationId === 'createDdosProfile') {
    const made = await http.post('/cloud/v1/loadbalancers/1/1', { name: anyName() });
    const [id] = (await http.task(tasksIn(made.body)[0] ?? '')).created_resources.loadbalancers;
    const { body } = await http.get(`/cloud/v1/loadbalancers/1/1/${id}`);
    return { ...(exampleBody(of) as object), ip_address: body.vip_address };
  }
  if (operationId === 'createTlsSecret') return { name: anyName(), payload: await tlsBundle() };
  if (operationId === 'acceptInvitation' || operationId === 'renewInvitation') {
    const email = anyEmail();
    const invitation = await invite({ http, clientId: 1 }, email);
    return operationId === 'renewInvitation' ? { email } : { token: invitation.invitation_token, password: PASSWORD };
  }
  if (operationId === 'resetPassword') return { email: (await newPerson(http)).email };
  if (operationId === 'createClientUser') return { ...(exampleBody(of) as object), username: anyEmail() };
  if (of.operation.operationId === 'login') {
    return { username: (await newPerson(http)).email, password: PASSWORD };
  }
  if (of.operation.operationId === 'refreshLogin') return { refresh: (await newPerson(http)).pair.refresh };
  const body = exampleBody(of) as { name?: string; email?: string } | undefined;
  if (body === undefined) return undefined;
  if (body.email !== undefined) return { ...body, email: anyEmail() };
  const own = Object.entries(values).filter(([name]) => Object.hasOwn(body, name));
  return { ...body, ...Object.fromEntries(own), ...(body.name !== undefined && { name: anyName() }) };
}

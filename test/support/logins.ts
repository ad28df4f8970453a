import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { createHttpClient, type HttpClient } from './http-client.ts';

export const PASSWORD = 'correct horse battery staple';
/** The password that users choose if somebody else gave them the first one. */
const OWN_PASSWORD = 'many small green apples';

export interface Pair {
  access: string;
  refresh: string;
}

export interface Person {
  userId: number;
  clientId: number;
  email: string;
  password: string;
  pair: Pair;
  /** Uses the access token of a login. */
  http: HttpClient;
}

export const anyEmail = () => `someone-${randomBytes(6).toString('hex')}@example.com`;

/** Returns a client with the access token of that pair. */
export function bearer(base: string, { access }: Pair): HttpClient {
  return createHttpClient(base, access, 'Bearer');
}

export async function logIn(http: HttpClient, email: string, password = PASSWORD): Promise<Pair> {
  const answer = await http.post('/iam/auth/jwt/login', { username: email, password });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** Makes a user with their own account through a reseller, and logs in. */
export async function newPerson(reseller: HttpClient, more: object = {}): Promise<Person> {
  const email = anyEmail();
  const made = await reseller.post('/iam/users', {
    email,
    password: PASSWORD,
    company: `Company of ${email}`,
    ...more,
  });
  expect(made.status, made.text).toBe(201);
  const pair = await logIn(reseller, email);
  const { id: userId, client: clientId } = made.body;
  return { userId, clientId, email, password: PASSWORD, pair, http: bearer(reseller.base, pair) };
}

/** Changes the password, so that only the person knows it. */
export async function choosePassword(person: Person): Promise<void> {
  const body = { old: person.password, new: OWN_PASSWORD, double: OWN_PASSWORD };
  const answer = await person.http.put(`/iam/users/${person.userId}/password`, body);
  expect(answer.status, answer.text).toBe(200);
  person.password = OWN_PASSWORD;
  person.pair = answer.body;
  person.http = bearer(person.http.base, answer.body);
}

export interface Invitation {
  user_id: number;
  invitation_token: string;
  invitation_expires: string;
}

type Host = Pick<Person, 'http' | 'clientId'>;

export async function invite(host: Host, email: string, user_role: object = { id: 5 }): Promise<Invitation> {
  const body = { email, user_role, client_id: host.clientId, name: 'Guest' };
  const answer = await host.http.post('/iam/clients/invite_user', body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** A new person accepts an invitation, and can log in. Returns their id. */
export async function comes(host: Host, email = anyEmail(), user_role?: object): Promise<number> {
  const { invitation_token: token } = await invite(host, email, user_role);
  const anonymous = createHttpClient(host.http.base, undefined);
  const answer = await anonymous.post('/iam/auth/accept_invitation', { token, password: PASSWORD });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.user_id;
}

/** An existing user joins another account. */
export async function joins(host: Host, person: Person, user_role?: object): Promise<void> {
  if (person.password === PASSWORD) await choosePassword(person);
  const { invitation_token: token } = await invite(host, person.email, user_role);
  const anonymous = createHttpClient(host.http.base, undefined);
  const body = { token, password: person.password };
  const answer = await anonymous.post('/iam/auth/accept_invitation', body);
  expect([answer.status, answer.body]).toEqual([200, { user_id: person.userId, client_id: host.clientId }]);
}

/** Returns the claims of a token without checking them. */
export function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

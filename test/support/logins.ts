import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { createHttpClient, type HttpClient } from './http-client.ts';

export const PASSWORD = 'correct horse battery staple';

export interface Pair {
  access: string;
  refresh: string;
}

export interface Person {
  userId: number;
  clientId: number;
  email: string;
  pair: Pair;
  /** Speaks with the access token of a login. */
  http: HttpClient;
}

export const anyEmail = () => `someone-${randomBytes(6).toString('hex')}@example.com`;

/** Speaks with the access token of that pair. */
export function bearer(base: string, { access }: Pair): HttpClient {
  return createHttpClient(base, access, 'Bearer');
}

export async function logIn(http: HttpClient, email: string, password = PASSWORD): Promise<Pair> {
  const answer = await http.post('/iam/auth/jwt/login', { username: email, password });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

/** A user with an account of their own, made by a reseller and logged in. */
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
  return { userId: made.body.id, clientId: made.body.client, email, pair, http: bearer(reseller.base, pair) };
}

/** The claims of a token, which nobody has checked. */
export function claimsOf(token: string) {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

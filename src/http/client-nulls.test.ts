import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invite, newPerson } from '../../test/support/logins.ts';
import { addReseller } from '../../test/support/reseller.ts';
import { borrowService, type TestService } from '../../test/support/service.ts';
import { NULL_AS_ABSENT, NULL_AS_EMPTY, nullable } from '../lib/wire.ts';
import { changeFor, withoutMarks } from './dialect-hooks.ts';

const Inner = Type.Object({
  name: nullable(Type.String({ ...NULL_AS_EMPTY })),
  size: nullable(Type.Integer({ ...NULL_AS_ABSENT })),
  kept: nullable(Type.String()),
});
const Page = Type.Object({ results: Type.Array(Inner) });
const either = Type.Union([Type.Array(Inner), Page]);

it('takes the nulls out of a schema, or the marks alone', () => {
  expect(withoutMarks(Page, 'replace')).toMatchObject({
    properties: {
      results: {
        items: {
          required: ['name', 'kept'],
          properties: {
            name: { type: 'string' },
            size: { type: 'integer' },
            kept: { type: ['string', 'null'] },
          },
        },
      },
    },
  });
  expect(JSON.stringify(withoutMarks(Page, 'keep'))).not.toContain('x-null');
  expect(withoutMarks(Page, 'keep')).toMatchObject({
    properties: { results: { items: { required: ['name', 'size', 'kept'] } } },
  });
  const plain = Type.Object({ id: Type.String() });
  expect(withoutMarks(plain, 'replace')).toBe(plain);
});

it('takes the nulls out of an answer, and leaves the given one as it is', () => {
  const one = { name: null, size: null, kept: null };
  const other = { name: 'x', size: 0, kept: 'y' };
  const clean = [{ name: '', kept: null }, other];
  const given = { results: [one, other] };
  const change = changeFor(either);
  expect(change?.(given)).toEqual({ results: clean });
  expect(change?.([one, other])).toEqual(clean);
  expect(given).toEqual({ results: [{ name: null, size: null, kept: null }, other] });
  expect(changeFor(Type.Object({ id: Type.String() }))).toBeUndefined();
});

describe('answers of the account area', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await borrowService();
  });
  afterAll(() => service?.stop());

  /** Returns the paths of all nulls in an answer. */
  function nullsIn(value: unknown, at = ''): string[] {
    if (value === null) return [at];
    if (typeof value !== 'object') return [];
    return Object.entries(value).flatMap(([key, each]) => nullsIn(each, `${at}.${key}`));
  }

  it('have no null at /gcore, where the published contract has texts and numbers', async () => {
    const reseller = await addReseller(service, 'Strict');
    const person = await newPerson(reseller.http);
    await invite(person, `${person.userId}@example.com`);
    const tokens = `/iam/v2/clients/${person.clientId}/tokens`;
    const request = { name: 'x', exp_date: null, client_user: {} };
    const { body: token } = await person.http.post(tokens, request);
    await service.anonymous.post('/iam/auth/jwt/login', { username: 'nobody@example.com', password: 'x' });
    const settings = `/iam/reselling/resellers/${reseller.resellerId}/notification_settings`;
    const reads = [
      [person.http, '/iam/clients/me'],
      [person.http, '/iam/users'],
      [person.http, `/iam/users/${person.userId}`],
      [person.http, tokens],
      [person.http, `${tokens}/${token.id}`],
      [person.http, '/iam/activity_log/logins'],
      [person.http, '/iam/activity_log/requests'],
      [person.http, '/iam/activity_log/account_status_changes'],
      [service.http, '/iam/activity_log/logins'],
      [reseller.http, '/iam/clients'],
      [reseller.http, '/iam/clients?limit=10'],
      [reseller.http, `/iam/clients/${person.clientId}`],
      [reseller.http, `/iam/clients/${person.clientId}/services`],
      [reseller.http, settings],
    ] as const;
    for (const [http, path] of reads) {
      const answer = await http.get(`/gcore${path}`);
      expect([path, answer.status, nullsIn(answer.body)]).toEqual([path, 200, []]);
    }
    const { body: client } = await reseller.http.get(`/gcore/iam/clients/${person.clientId}`);
    expect(client).toMatchObject({ name: '', entryBaseDomain: '', resellers: reseller.resellerId });
    for (const field of ['phone', 'website', 'custom_id', 'country_code', 'signup_process', 'seller']) {
      expect(client).not.toHaveProperty(field);
    }
    const { body: page } = await person.http.get('/gcore/iam/users?limit=1');
    expect([page.next, 'previous' in page]).toEqual(['/iam/users?offset=1&limit=1', false]);
    const made = await person.http.post(`/gcore${tokens}`, request);
    expect(made.body.exp_date).toBe('');
  });

  it('keep null where the specification is spoken', async () => {
    const person = await newPerson(service.http);
    expect((await person.http.get('/iam/clients/me')).body).toMatchObject({ name: null, website: null });
    expect((await person.http.get('/iam/users')).body).toMatchObject({ next: null, previous: null });
    expect((await person.http.get('/openapi.json')).text).not.toContain('x-null');
    expect((await person.http.get('/gcore/openapi.json')).text).not.toContain('x-null');
  });
});

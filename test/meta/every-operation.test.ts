import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultOf } from '../support/documented-answers.ts';
import type { Answer } from '../support/http-client.ts';
import {
  type DocumentedOperation,
  documentedOperations,
  exampleBody,
  filledPath,
  parametersIn,
} from '../support/openapi.ts';
import { startService, type TestService } from '../support/service.ts';

/**
 * Checks that apply to every operation. Operations are found in the documents, so that new ones are tested at
 * once.
 */
const operations = await documentedOperations();
const each = operations.map((of) => [of.title, of] as const);
/** Callers of a login have no token yet, and some facts are for everybody. */
const open = each.filter(([, { operation }]) => operation.security?.length === 0);
const guarded = each.filter((one) => !open.includes(one));

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

it('finds operations to test', () => {
  expect(operations.length).toBeGreaterThan(100);
});

it('lets nobody in without a token but whoever asks for one, or for what is public', () => {
  expect([...new Set(open.map(([, { operation }]) => operation.operationId))].sort()).toEqual([
    'acceptInvitation',
    'forgotPassword',
    'listEgressRanges',
    'login',
    'refreshLogin',
    'setForgottenPassword',
  ]);
});

describe('without credentials', () => {
  it.each(guarded)('%s is 401 in the body of its area', async (_, of) => {
    const answer = await service.anonymous.request(of.method, filledPath(of));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('apikey, Bearer realm="Tradewind"');
    expectDocumented(of, answer);
  });

  it.each(guarded)('%s is 401 before its body is looked at', async (_, of) => {
    const answer = await service.anonymous.request(of.method, filledPath(of), broken(of));
    expect(answer.status).toBe(401);
  });
});

describe('a token without rights', () => {
  it.each(guarded)('%s is 403', async (_, of) => {
    rightless ??= service.withRole('Purge and Prefetch only (API)');
    const answer = await (await rightless).request(of.method, filledPath(of));
    // The address of a reseller or another account is refused as such, whatever the caller's rights.
    expect(answer.status).toBe(403);
    expectDocumented(of, answer);
  });
});

describe('an unknown query parameter', () => {
  it.each(each)('%s is 400', async (_, of) => {
    // The account is checked first, so it has to be the caller's own.
    const path = filledPath(of).replace(/(clients|resellers)\/\d+/, '$1/1');
    const answer = await service.http.request(of.method, `${path}?no_such_parameter=1`, {
      ...(of.operation.requestBody && { body: exampleBody(of) }),
    });
    expect(answer.status, answer.text).toBe(400);
    expect(answer.text).toContain('no_such_parameter');
    expectDocumented(of, answer);
  });
});

describe('NUL', () => {
  it.each(each)('%s is 400 with it in the query', async (_, of) => {
    const answer = await service.http.request(of.method, `${filledPath(of)}?name=a%00b`);
    expect(answer.status).toBe(400);
    expectDocumented(of, answer);
  });

  it.each(each.filter(([, { path }]) => path.includes('{')))(
    '%s is 400 with it in the path',
    async (_, of) => {
      const path = of.prefix + of.path.replace(/\{[^}]+\}/g, 'a%00b');
      expect((await service.http.request(of.method, path)).status).toBe(400);
    },
  );

  it.each(taking())('%s is 400 with it in the body', async (_, of) => {
    const body = withField(exampleBody(of), { name: 'a\0b' });
    const answer = await service.http.request(of.method, ownPath(of), { body });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('NUL');
    expectDocumented(of, answer);
  });
});

describe('a body that can not be taken', () => {
  it.each(taking())('%s is 415 as text', async (_, of) => {
    const answer = await service.http.request(of.method, ownPath(of), {
      raw: 'name=x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(answer.status).toBe(415);
    expectDocumented(of, answer);
  });

  it.each(taking())('%s is 400 as broken JSON and as something else', async (_, of) => {
    for (const raw of ['{"name":', Array.isArray(exampleBody(of)) ? '{}' : '[]', '7']) {
      const answer = await service.http.request(of.method, ownPath(of), { raw });
      expect(answer.status, raw).toBe(400);
      expectDocumented(of, answer);
    }
  });

  it.each(taking())('%s is 400 with a field that nobody knows', async (_, of) => {
    const body = withField(exampleBody(of), { no_such_field: 1 });
    const headers = { 'tradewind-strict': 'true' };
    const answer = await service.http.request(of.method, ownPath(of), { body, headers });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('no_such_field');
    expect(answer.headers.get('tradewind-ignored')).toBeNull();
  });

  it.each(taking())('%s is 413 over 1 MiB', async (_, of) => {
    const answer = await service.http.request(of.method, ownPath(of), { raw: `"${'x'.repeat(1_050_000)}"` });
    expect(answer.status).toBe(413);
    expectDocumented(of, answer);
  });
});

it.each(each)('%s is 400 with a query parameter that nobody knows', async (_, of) => {
  const answer = await service.http.request(of.method, `${ownPath(of)}?no_such_parameter=1`, {
    ...(of.operation.requestBody && { body: exampleBody(of) }),
  });
  if (parametersIn('query', of.operation).length > 0) {
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('no_such_parameter');
  }
});

describe('another method', () => {
  const methods = new Map<string, string[]>();
  for (const { prefix, path, method } of operations) {
    methods.set(prefix + path, [...(methods.get(prefix + path) ?? []), method]);
  }

  it.each([...methods])('%s is 405 and names those that it has', async (path, known) => {
    const filled = path.replace(/\{[^}]+\}/g, '1');
    // `available_names` is the ID of an instance for methods that it doesn't have itself.
    const others = [...methods].filter(([other]) => other !== path && matches(other, filled));
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
      (name) => !known.includes(name) && !others.some(([, having]) => having.includes(name)),
    )) {
      const answer = await service.http.request(method, filled);
      const allowed = (answer.headers.get('allow') ?? '').split(', ');
      expect([method, answer.status]).toEqual([method, 405]);
      expect(allowed.filter((name) => name !== 'HEAD').sort()).toEqual([...known].sort());
    }
  });
});

const matches = (path: string, filled: string) =>
  new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(filled);

let rightless: ReturnType<TestService['withRole']> | undefined;

function taking() {
  return each.filter(([, { operation }]) => operation.requestBody);
}

/** Adds a field to a body, or to each entry of one that is a list. */
function withField(body: unknown, field: object): unknown {
  return Array.isArray(body) ? body.map((one) => withField(one, field)) : { ...(body as object), ...field };
}

function broken({ operation }: DocumentedOperation) {
  return operation.requestBody ? { raw: '{"name":' } : {};
}

/** Returns a path that the platform administrator may use; what it names need not exist. */
function ownPath(of: DocumentedOperation): string {
  return filledPath(of, { project_id: 1, region_id: 1, clientId: 1, resellerId: 1 });
}

/** Expects that the answer fits the document for its status, and has only known fields of error bodies. */
function expectDocumented(of: DocumentedOperation, answer: Answer): void {
  expect(faultOf(of, answer)).toBeUndefined();
  const known = of.path.startsWith('/tradewind/') ? PROBLEM : PUBLISHED;
  expect(Object.keys(answer.body).filter((name) => !known.has(name))).toEqual([]);
}

/** The published fields, and `hint` for what to do if the published text doesn't say. */
const PUBLISHED = new Set(
  'exception_class message request_id info invalid_fields code error status errors hint'.split(' '),
);

/** Those of RFC 9457, and ours. */
const PROBLEM = new Set('type title status detail request_id code hint errors'.split(' '));

import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { faultOf } from '../support/documented-answers.ts';
import { every } from '../support/every.ts';
import type { Answer } from '../support/http-client.ts';
import { type DocumentedOperation, documentedOperations, exampleBody, filledPath } from '../support/openapi.ts';
import { startService, type TestService } from '../support/service.ts';

/**
 * Checks that apply to every operation. Operations are found in the documents, so that new ones are tested at
 * once.
 */
const operations = await documentedOperations();
/** Callers of a login have no token yet, and some facts are for everybody. */
const open = operations.filter(({ operation }) => operation.security?.length === 0);
const guarded = operations.filter((of) => !open.includes(of));
/** One hook does the same for both base addresses: every operation of the first, and each tenth of the second. */
const hooked = [
  ...operations.filter(({ prefix }) => prefix === ''),
  ...operations.filter(({ prefix }) => prefix !== '').filter((_, index) => index % 10 === 0),
];
const taking = hooked.filter(({ operation }) => operation.requestBody);
const withParameters = hooked.filter(({ path }) => path.includes('{'));

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

describe('the operations', () => {
  it('are all that the published documents have', () => {
    const first = published('openapi.json');
    const second = published('gcore.json');
    expect(operations.length).toBe(first.all + second.all);
    expect(hooked.length).toBe(first.all + Math.ceil(second.all / 10));
    expect(taking.length).toBeGreaterThanOrEqual(first.withBody);
    expect(withParameters.length).toBeGreaterThanOrEqual(first.withParameters);
  });

  it('let nobody in without a token but whoever asks for one, or for what is public', () => {
    expect([...new Set(open.map(({ operation }) => operation.operationId))].sort()).toEqual([
      'acceptInvitation',
      'changeMailSubscription',
      'confirmDeletionRequest',
      'enrolForLogin',
      'forgotPassword',
      'getPasskeyLoginOptions',
      'listEgressRanges',
      'logInWithSecondFactor',
      'login',
      'readMailedLink',
      'refreshLogin',
      'setForgottenPassword',
    ]);
  });
});

it('each answers 401 in the body of its area without credentials', async () => {
  await every(guarded, async (of) => {
    const answer = await service.anonymous.request(of.method, filledPath(of));
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('apikey, Bearer realm="Tradewind"');
    expectDocumented(of, answer);
  });
});

it('each answers 401 before it looks at the body', async () => {
  await every(guarded, async (of) => {
    const answer = await service.anonymous.request(of.method, filledPath(of), broken(of));
    expect(answer.status).toBe(401);
  });
});

it('each answers 403 to a token without rights', async () => {
  const rightless = await service.withRole('Purge and Prefetch only (API)');
  await every(guarded, async (of) => {
    const answer = await rightless.request(of.method, filledPath(of));
    // The address of a reseller or another account is refused as such, whatever the caller's rights.
    expect(answer.status).toBe(403);
    expectDocumented(of, answer);
  });
});

it('each answers 400 to a query parameter that nobody knows', async () => {
  await every(hooked, async (of) => {
    // The account is checked first, so it has to be the caller's own.
    const unknown = filledPath(of).replace(/(clients|resellers)\/\d+/, '$1/1');
    for (const path of [unknown, ownPath(of)]) {
      const answer = await service.http.request(of.method, `${path}?no_such_parameter=1`, {
        ...(of.operation.requestBody && { body: exampleBody(of) }),
      });
      expect(answer.status, answer.text).toBe(400);
      expect(answer.text).toContain('no_such_parameter');
      expectDocumented(of, answer);
    }
  });
});

describe('NUL', () => {
  it('is 400 in the query of each', async () => {
    await every(hooked, async (of) => {
      const answer = await service.http.request(of.method, `${filledPath(of)}?name=a%00b`);
      expect(answer.status).toBe(400);
      expectDocumented(of, answer);
    });
  });

  it('is 400 in the path of each', async () => {
    await every(withParameters, async (of) => {
      const path = of.prefix + of.path.replace(/\{[^}]+\}/g, 'a%00b');
      expect((await service.http.request(of.method, path)).status).toBe(400);
    });
  });

  it('is 400 in the body of each', async () => {
    await every(taking, async (of) => {
      const body = withField(exampleBody(of), { name: 'a\0b' });
      const answer = await service.http.request(of.method, ownPath(of), { body });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('NUL');
      expectDocumented(of, answer);
    });
  });
});

describe('the body of each', () => {
  it('is 415 as text', async () => {
    await every(taking, async (of) => {
      const answer = await service.http.request(of.method, ownPath(of), {
        raw: 'name=x',
        headers: { 'content-type': 'text/plain' },
      });
      expect(answer.status).toBe(415);
      expectDocumented(of, answer);
    });
  });

  it('is 400 as broken JSON and as something else', async () => {
    await every(taking, async (of) => {
      for (const raw of ['{"name":', Array.isArray(exampleBody(of)) ? '{}' : '[]', '7']) {
        const answer = await service.http.request(of.method, ownPath(of), { raw });
        expect(answer.status, raw).toBe(400);
        expectDocumented(of, answer);
      }
    });
  });

  it('is 400 with a field that nobody knows', async () => {
    await every(taking, async (of) => {
      const body = withField(exampleBody(of), { no_such_field: 1 });
      const headers = { 'tradewind-strict': 'true' };
      const answer = await service.http.request(of.method, ownPath(of), { body, headers });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('no_such_field');
      expect(answer.headers.get('tradewind-ignored')).toBeNull();
    });
  });

  it('is 413 over 1 MiB', async () => {
    const raw = `"${'x'.repeat(1_050_000)}"`;
    await every(taking, async (of) => {
      const answer = await service.http.request(of.method, ownPath(of), { raw });
      expect(answer.status).toBe(413);
      expectDocumented(of, answer);
    });
  });
});

it('each path answers 405 to another method, and names those that it has', async () => {
  const known = new Map<string, string[]>();
  for (const { prefix, path, method } of operations) {
    known.set(prefix + path, [...(known.get(prefix + path) ?? []), method]);
  }
  const paths = [...new Set(hooked.map(({ prefix, path }) => prefix + path))];
  await every(
    paths.map((title) => ({ title })),
    async ({ title: path }) => {
      const methods = known.get(path) ?? [];
      const filled = path.replace(/\{[^}]+\}/g, '1');
      // `available_names` is the ID of an instance for methods that it doesn't have itself.
      const others = [...known].filter(([other]) => other !== path && matches(other, filled));
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
        (name) => !methods.includes(name) && !others.some(([, having]) => having.includes(name)),
      )) {
        const answer = await service.http.request(method, filled);
        const allowed = (answer.headers.get('allow') ?? '').split(', ');
        expect([method, answer.status]).toEqual([method, 405]);
        expect(allowed.filter((name) => name !== 'HEAD').sort()).toEqual([...methods].sort());
      }
    },
  );
});

it('together they leave less than a megabyte of metrics', async () => {
  const { text } = await service.anonymous.get('/metrics');
  const routes = new Set(text.match(/duration_seconds_count\{.*route=.*\}/g));
  expect(routes.size).toBeGreaterThan(operations.length / 2 - 10);
  for (const status of [400, 401, 403, 405, 413, 415]) expect(text).toContain(`status="${status}"`);
  expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
});

/** Counts what a checked-in document has. */
function published(name: string) {
  const { paths } = JSON.parse(fs.readFileSync(`openapi/${name}`, 'utf8')) as {
    paths: Record<string, Record<string, { requestBody?: object }>>;
  };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map(({ requestBody }) => ({ path, requestBody })),
  );
  return {
    all: all.length,
    withBody: all.filter(({ requestBody }) => requestBody).length,
    withParameters: all.filter(({ path }) => path.includes('{')).length,
  };
}

const matches = (path: string, filled: string) => new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`).test(filled);

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

import { type Area, areaOf } from './areas.ts';
import { mapOperations, type OpenApiDocument, type Operation } from './openapi-document.ts';
import type { RequestTraits } from './openapi-requests.ts';

/** What each error status means to the client. */
const MEANING: Record<number, string> = {
  400: 'The request is not valid: the body names the field and says what to send instead.',
  401: 'No API token, or one that is not valid.',
  403: 'The token may not do this, or a quota is used up.',
  404: 'The resource does not exist, or belongs to another account.',
  409: 'The resource already exists, is in use, or is locked by a running task. Nothing was changed.',
  412: 'The resource is no longer in a state that allows this, or no longer has the version in `If-Match`.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body is not `application/json`, or has a `Content-Encoding`.',
  422: 'The `Idempotency-Key` was used for another request. For AI tasks: the account does not have this feature, or no installed engine can do the task.',
  429: 'Too many requests with this token, too many valid `Idempotency-Key`s of the account, or too many wrong passwords; `Retry-After` says when to try again.',
  500: "An internal error; the server's log has the cause under the request ID.",
};

const text = (description: string) => ({ type: 'string', description });
const hint = text('With a 401: what to send instead, or whom to ask');
const fieldTexts = {
  type: 'object',
  description: 'Messages by field',
  additionalProperties: { type: 'array', items: { type: 'string' } },
};

const body = (title: string, required: string[], properties: object, example: object) => ({
  type: 'object',
  title,
  required,
  properties,
  examples: [example],
});

const SCHEMAS = {
  CloudError: body(
    'CloudError',
    ['exception_class', 'message', 'request_id'],
    {
      exception_class: text('Kind of error, such as `ValidationError` or `ConflictError`'),
      message: text('What is wrong and what to do about it'),
      request_id: text('ID of the request, as in the header `x-request-id`'),
      info: {
        type: 'object',
        description: 'The numbers of the quota that is used up',
        properties: {
          attribute: text('Name of the limit'),
          current_usage: { type: 'integer' },
          requested_usage: { type: 'integer' },
          limit: { type: 'integer' },
        },
      },
      invalid_fields: fieldTexts,
      hint,
    },
    {
      exception_class: 'NotFoundError',
      message: 'Project 999 not found',
      request_id: '0e3f3c1e-6f6c-4c1b-8a53-5b0b7e0f6b1d',
    },
  ),
  LoggingError: body(
    'LoggingError',
    ['code', 'message'],
    { code: { type: 'integer', description: 'The status' }, message: text('What is wrong'), hint },
    { code: 404, message: 'Project 999 not found' },
  ),
  StreamingError: body(
    'StreamingError',
    ['error'],
    {
      error: text('What is wrong'),
      status: { type: 'integer', description: 'The status, if a read finds nothing' },
      hint,
    },
    { error: 'url: This field is required.' },
  ),
  IamError: body(
    'IamError',
    ['message'],
    { message: text('What is wrong'), hint },
    { message: 'Authentication credentials were not provided.' },
  ),
  IamErrors: body(
    'IamErrors',
    ['errors'],
    { errors: fieldTexts },
    { errors: { email: ['This field is required.'] } },
  ),
  Problem: body(
    'Problem',
    ['type', 'title', 'status', 'detail', 'request_id'],
    {
      type: text('Always `about:blank`'),
      title: text('What the status means'),
      status: { type: 'integer', description: 'The status' },
      detail: text('What is wrong and what to do about it'),
      request_id: text('ID of the request, as in the header `x-request-id`'),
      code: text('Kind of error, such as `invalid` or `not-found`'),
      quota: { type: 'object', description: 'The numbers of the quota that is used up' },
      errors: {
        type: 'array',
        description: 'What is wrong with which field',
        items: { type: 'object', properties: { field: text('Field'), detail: text('What is wrong') } },
      },
      hint,
    },
    {
      type: 'about:blank',
      title: 'Not Found',
      status: 404,
      detail: 'Task 7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90 not found',
      request_id: '0e3f3c1e-6f6c-4c1b-8a53-5b0b7e0f6b1d',
      code: 'not-found',
    },
  ),
};

const BODY: Record<Area, keyof typeof SCHEMAS> = {
  cloud: 'CloudError',
  logging: 'LoggingError',
  streaming: 'StreamingError',
  iam: 'IamError',
  tradewind: 'Problem',
};

/**
 * Adds the possible errors to every operation, in the form of its area. Responses that a route declares
 * itself stay.
 */
export function withErrors(
  document: OpenApiDocument,
  traits: ReadonlyMap<string, RequestTraits>,
): OpenApiDocument {
  const responses: Record<string, object> = {};
  const paths = mapOperations(document, completed);
  return {
    ...document,
    paths,
    components: {
      ...document.components,
      schemas: sorted({ ...document.components.schemas, ...SCHEMAS }),
      responses: sorted(responses),
    },
  };

  function completed(operation: Operation, _method: string, path: string): Operation {
    const area = areaOf(path);
    const known = traits.get(operation.operationId);
    const errors = statusesOf(path, operation, known).map((status) => {
      const name = `${BODY[area]}${status}`;
      responses[name] ??= responseOf(area, status);
      return [String(status), { $ref: `#/components/responses/${name}` }];
    });
    const answers = known?.secret ? notToBeKept(operation.responses) : operation.responses;
    return { ...operation, responses: { ...Object.fromEntries(errors), ...answers } };
  }
}

/** What a route of its kind can be asked wrongly, and what it says itself. */
function statusesOf(path: string, operation: Operation, traits: RequestTraits | undefined): number[] {
  return [
    400,
    401,
    403,
    ...(namesSomething(path, operation) ? [404] : []),
    ...(traits?.changes ? [409] : []),
    ...(traits?.versioned ? [412] : []),
    ...(operation.requestBody ? [413, 415] : []),
    ...(traits?.keyed ? [422] : []),
    ...(traits?.counted ? [429] : []),
    ...(traits?.refuses ?? []),
    500,
  ];
}

function namesSomething(path: string, { requestBody, parameters = [] }: Operation): boolean {
  const names = parameters.map((one) => 'name' in one && one.required && one.name);
  return path.includes('{') || requestBody !== undefined || names.includes('project_id');
}

function responseOf(area: Area, status: number): object {
  const one = { $ref: `#/components/schemas/${BODY[area]}` };
  // A body that can't be parsed has no field to name.
  const schema =
    area === 'iam' && status === 400 ? { oneOf: [{ $ref: '#/components/schemas/IamErrors' }, one] } : one;
  return {
    description: MEANING[status],
    ...(status === 401 && {
      headers: {
        'WWW-Authenticate': {
          description: 'The accepted schemes: `apikey` and `Bearer`',
          schema: { type: 'string' },
        },
      },
    }),
    content: { [area === 'tradewind' ? 'application/problem+json' : 'application/json']: { schema } },
  };
}

/** Adds the header for secrets to the route's own answers. */
function notToBeKept(answers: Operation['responses']): Operation['responses'] {
  const headers = {
    'Cache-Control': {
      description: 'The answer contains a secret and must not be cached.',
      schema: { type: 'string', const: 'no-store' },
    },
  };
  return Object.fromEntries(Object.entries(answers).map(([status, one]) => [status, { ...one, headers }]));
}

function sorted<T>(named: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1)));
}

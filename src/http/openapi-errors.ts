import {
  ConflictError,
  type DomainError,
  InvalidError,
  NotFoundError,
  PreconditionFailedError,
  QuotaExceededError,
  TooManyRequestsError,
  UnauthenticatedError,
  UnprocessableError,
} from '../lib/errors.ts';
import { lacks } from '../requests/principal.ts';
import { type Area, areaOf } from './dialect.ts';
import { bodyOf, HttpError, hintOf, INTERNAL, NO_SUCH_PART, NOT_JSON, TOO_LARGE } from './errors.ts';
import { MalformedJsonError } from './json-body.ts';
import { mapOperations, type OpenApiDocument, type Operation } from './openapi-document.ts';
import type { RequestTraits } from './openapi-requests.ts';

/** The ID of a task or request in examples. */
const UUID = '0e3f3c1e-6f6c-4c1b-8a53-5b0b7e0f6b1d';

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
  416: 'The file has no such part; `Content-Range` says how long it is.',
  422: 'The `Idempotency-Key` was used for another request. For AI tasks: the account does not have this feature, or no installed engine can do the task, or its file can no longer be fetched.',
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

const body = (title: string, required: string[], properties: object) => ({
  type: 'object',
  title,
  required,
  properties,
});

const SCHEMAS = {
  CloudError: body('CloudError', ['exception_class', 'message', 'request_id'], {
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
  }),
  LoggingError: body('LoggingError', ['code', 'message'], {
    code: { type: 'integer', description: 'The status' },
    message: text('What is wrong'),
    hint,
  }),
  StreamingError: body('StreamingError', ['error'], {
    error: text('What is wrong'),
    status: { type: 'integer', description: 'The status, if a read finds nothing' },
    hint,
  }),
  IamError: body('IamError', ['message'], { message: text('What is wrong'), hint }),
  IamErrors: body('IamErrors', ['errors'], { errors: fieldTexts }),
  Problem: body('Problem', ['type', 'title', 'status', 'detail', 'request_id'], {
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
  }),
};

const BODY: Record<Area, keyof typeof SCHEMAS> = {
  cloud: 'CloudError',
  logging: 'LoggingError',
  streaming: 'StreamingError',
  iam: 'IamError',
  tradewind: 'Problem',
};

/**
 * Adds the possible errors to every operation, in the form of its area. Responses that a route declares itself stay.
 */
export function withErrors(document: OpenApiDocument, traits: ReadonlyMap<string, RequestTraits>): OpenApiDocument {
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

/** What the examples are about, by area. */
const SUBJECT: Record<Area, { kind: string; id: string | number; field: string }> = {
  cloud: { kind: 'Project', id: 999, field: 'name' },
  logging: { kind: 'Project', id: 999, field: 'name' },
  streaming: { kind: 'AI task', id: UUID, field: 'url' },
  iam: { kind: 'User', id: 999, field: 'email' },
  tradewind: { kind: 'Webhook', id: 999, field: 'url' },
};

const QUOTA = { attribute: 'volume_count_limit', current_usage: 20, requested_usage: 1, limit: 20 };

/** An error of each status by name, with words that the API uses. */
const EXAMPLES: Record<number, (area: Area) => Record<string, DomainError | HttpError>> = {
  400: (area) => ({
    invalid: new InvalidError({ [SUBJECT[area].field]: ['This field is required.'] }),
    ...(area === 'iam' && { malformed: new MalformedJsonError('Unexpected end of JSON input') }),
  }),
  401: () => ({
    missing: new UnauthenticatedError('Authentication credentials were not provided.', false),
    wrong: new UnauthenticatedError('Token is invalid or expired', true),
  }),
  403: (area) => ({
    rights: lacks('administer'),
    ...(area === 'cloud' && { quota: new QuotaExceededError(QUOTA) }),
  }),
  404: (area) => ({ missing: new NotFoundError(SUBJECT[area].kind, SUBJECT[area].id) }),
  409: (area) => ({
    held: new ConflictError(`${SUBJECT[area].kind} ${SUBJECT[area].id} is held by task ${UUID}; wait until it ends`),
  }),
  412: (area) =>
    area === 'streaming'
      ? {
          ended: new PreconditionFailedError(`AI task ${UUID} has ended with SUCCESS and can't be cancelled any more`),
        }
      : {
          changed: new PreconditionFailedError(
            'The resource at this address now has version "8", but If-Match asks for "7"; read it again before you change it',
          ),
        },
  413: () => ({ large: new HttpError(413, TOO_LARGE) }),
  415: () => ({ type: new HttpError(415, NOT_JSON) }),
  416: () => ({ part: new HttpError(416, NO_SUCH_PART) }),
  422: (area) => ({
    ...(area === 'streaming' && {
      feature: new UnprocessableError(
        'Transcription is a feature that this account does not have; ask the reseller to activate it',
      ),
    }),
    key: new UnprocessableError('This Idempotency-Key was used for another request; use a new key for a new request'),
  }),
  429: () => ({
    rate: new TooManyRequestsError(
      'This token has made the 1000 requests that are allowed in 10 seconds; try again in 3 s. Reading a task is not counted.',
      3,
    ),
  }),
  500: () => ({ internal: new HttpError(500, INTERNAL) }),
};

function examplesOf(area: Area, status: number): Record<string, { value: object }> {
  const errors = Object.entries(EXAMPLES[status]?.(area) ?? {});
  return Object.fromEntries(errors.map(([name, error]) => [name, { value: shown(area, error, status) }]));
}

const shown = (area: Area, error: DomainError | HttpError, status: number): object => ({
  ...bodyOf(area, error, status, { id: UUID, method: 'GET' }),
  ...hintOf(error),
});

function responseOf(area: Area, status: number): object {
  const one = { $ref: `#/components/schemas/${BODY[area]}` };
  // A body that can't be parsed has no field to name.
  const schema = area === 'iam' && status === 400 ? { oneOf: [{ $ref: '#/components/schemas/IamErrors' }, one] } : one;
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
    content: {
      [area === 'tradewind' ? 'application/problem+json' : 'application/json']: {
        schema,
        examples: examplesOf(area, status),
      },
    },
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

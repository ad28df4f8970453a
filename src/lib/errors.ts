/**
 * Domain errors: what went wrong, independent of HTTP. Only `src/http/errors.ts` turns them into statuses and
 * bodies. `message` is always fit for the client; internal texts go to `cause`.
 */

/** Texts by field path, e.g. `{'security_group.name': ['must be 3 to 63 characters long']}`. */
export type InvalidFields = Record<string, string[]>;

/** One problem of one field. `field` is a dotted path into the request, with indexes: `pools.0.flavor_id`. */
export interface FieldProblem {
  field: string;
  /** A sentence that says what is wrong and, if that isn't obvious, what to send instead. */
  message: string;
}

export abstract class DomainError extends Error {
  abstract readonly kind:
    | 'invalid'
    | 'unauthenticated'
    | 'forbidden'
    | 'not-found'
    | 'conflict'
    | 'quota-exceeded'
    | 'queue-full'
    | 'precondition-failed'
    | 'unprocessable'
    | 'feature-missing'
    | 'too-many-requests'
    | 'unavailable';
  /** What to do about it, for messages that the contract prescribes word for word and that don't say it. */
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }

  override get name(): string {
    return this.constructor.name;
  }
}

/** The request is invalid: 400, with the texts by field. */
export class InvalidError extends DomainError {
  readonly kind = 'invalid';
  readonly fields: InvalidFields;

  constructor(problems: FieldProblem[] | InvalidFields, message?: string, hint?: string) {
    const fields = Array.isArray(problems) ? fieldsOf(problems) : problems;
    super(message ?? summaryOf(fields), hint);
    this.fields = fields;
  }
}

/** Credentials that were once good, or would be. */
export interface RefusedCredentials {
  reason: 'blocked' | 'deleted' | 'expired' | 'paused';
  clientId: number;
  userId: number;
  tokenId: number | undefined;
}

/** Credentials are missing or wrong: 401. */
export class UnauthenticatedError extends DomainError {
  readonly kind = 'unauthenticated';
  /** Whether a credential was given at all; the cloud area has different classes for the two cases. */
  readonly given: boolean;
  /** Whose credentials were refused, if they are known; for the audit log only. */
  readonly refused: RefusedCredentials | undefined;

  constructor(message: string, given: boolean, hint?: string, refused?: RefusedCredentials) {
    super(message, hint);
    this.given = given;
    this.refused = refused;
  }
}

/** The password was right, and a second factor is wanted as well: 401, with what to show it with. */
export class SecondFactorNeededError extends UnauthenticatedError {
  override get name(): string {
    return 'UnauthenticatedError';
  }

  readonly next: { challenge: string; expires_at: string; factors: string[]; enrol: boolean };

  constructor(next: SecondFactorNeededError['next']) {
    const hint = next.enrol
      ? 'Send the challenge to POST /tradewind/v1/logins/second_factor/enrol, and a code of the app to POST /tradewind/v1/logins/second_factor.'
      : 'Send the challenge with a code to POST /tradewind/v1/logins/second_factor.';
    super(next.enrol ? 'The account requires a second factor; add one' : 'A second factor is needed', true, hint);
    this.next = next;
  }
}

/** The caller is known but not allowed to do this: 403. */
export class ForbiddenError extends DomainError {
  readonly kind = 'forbidden';
}

/** The thing does not exist or belongs to another tenant, which must look the same: 404. */
export class NotFoundError extends DomainError {
  readonly kind = 'not-found';

  constructor(what: string, id: string | number, hint = '') {
    super(`${what} ${id} not found${hint}`);
  }
}

/** The thing exists already, is in use, or is locked by a running task: 409. Never has side effects. */
export class ConflictError extends DomainError {
  readonly kind = 'conflict';
}

/** Others use the thing, and at least one of them stays. */
export class UsedError extends ConflictError {
  /** Whether some of them leave or have just left, so that another look may find fewer. */
  readonly changing: boolean;

  constructor(message: string, changing: boolean) {
    super(message);
    this.changing = changing;
  }

  override get name(): string {
    return 'ConflictError';
  }
}

/** A task works on the thing, or takes away what uses it: it can be changed once that task has ended. */
export class HeldError extends ConflictError {
  readonly taskId: string;

  constructor(message: string, taskId: string) {
    super(message);
    this.taskId = taskId;
  }

  /** For clients it is a conflict like others. */
  override get name(): string {
    return 'ConflictError';
  }
}

/** A client's quota would be exceeded: 403 with the numbers. */
export class QuotaExceededError extends DomainError {
  readonly kind = 'quota-exceeded';
  readonly info: { attribute: string; current_usage: number; requested_usage: number; limit: number };

  constructor(info: { attribute: string; current_usage: number; requested_usage: number; limit: number }) {
    super(
      `Quota limit exceeded: ${info.attribute} is limited to ${info.limit}, ${info.current_usage} in use, ${info.requested_usage} more requested`,
    );
    this.info = info;
  }
}

/** A product can't become unavailable, because accounts use it: 403 with the products by the status of the service. */
export class ProductInUseError extends ForbiddenError {
  override get name(): string {
    return 'ForbiddenError';
  }

  readonly products: { trial: string[]; activating: string[]; active: string[] };

  constructor(products: { trial: string[]; activating: string[]; active: string[] }) {
    const names = [...new Set(Object.values(products).flat())].sort();
    super(`Accounts use ${names.join(' and ')}; pause their services first`);
    this.products = products;
  }
}

/** A client has too many unfinished AI tasks: 400 in the streaming area. */
export class QueueFullError extends DomainError {
  readonly kind = 'queue-full';
}

/** The resource is no longer in a state that allows this: 412. */
export class PreconditionFailedError extends DomainError {
  readonly kind = 'precondition-failed';
}

/** The request is well-formed but can't be carried out: 422. */
export class UnprocessableError extends DomainError {
  readonly kind = 'unprocessable';
}

/** The account doesn't have a feature that this needs: 422, as published. */
export class FeatureMissingError extends DomainError {
  readonly kind = 'feature-missing';
}

/** The caller has to slow down: 429. */
export class TooManyRequestsError extends DomainError {
  readonly kind = 'too-many-requests';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Something that every request needs is unavailable right now: 503. `cause` says what. */
export class UnavailableError extends DomainError {
  readonly kind = 'unavailable';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

function fieldsOf(problems: FieldProblem[]): InvalidFields {
  // A Map, because strangers choose the field names, and `{}` already has a "constructor".
  const fields = new Map<string, Set<string>>();
  for (const { field, message } of problems) {
    const texts = fields.get(field);
    if (texts) texts.add(message);
    else fields.set(field, new Set([message]));
  }
  return Object.fromEntries([...fields].map(([field, texts]) => [field, [...texts]]));
}

function summaryOf(fields: InvalidFields): string {
  const parts = Object.entries(fields).map(([field, texts]) => `${field}: ${texts.join('; ')}`);
  return `Validation error: ${parts.join('; ').replaceAll('.; ', '; ')}`;
}

/** Returns the result, or undefined if it is a NotFoundError. */
export async function ifFound<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}

/**
 * A problem that the operator has to fix: printed without a stack, since the message says what is wrong and
 * how to fix it.
 */
export class OperatorError extends Error {
  override get name(): string {
    return this.constructor.name;
  }
}

/** Settings that can't be used. The message has a line for each, which names the setting and says what it should be. */
export class SettingError extends OperatorError {}

/** The database schema does not fit this release. */
export class SchemaError extends OperatorError {}

/** Returns the result of `work`; undefined if it fails for any reason. For things that may be missing. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

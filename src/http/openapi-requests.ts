import type { FastifyInstance, RouteOptions } from 'fastify';
import { changesSomething } from './changing-requests.ts';
import type { Dialect } from './dialect.ts';
import { mayBeOpen } from './dialect-hooks.ts';
import { mapOperations, type OpenApiDocument, type Operation, type Parameter } from './openapi-document.ts';

/** What clients may ask a route for in headers, and whether requests count against the rate limit. */
export interface RequestTraits {
  keyed: boolean;
  versioned: boolean;
  tried: boolean;
  counted: boolean;
  /** Whether its answer contains a secret. */
  secret: boolean;
  /** More than asks, by its method and what it says itself. */
  changes: boolean;
  refuses: readonly number[];
  /** Whether unknown fields of its body are ignored. */
  openBody: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Statuses that it refuses with besides those of every operation of its kind. */
    refuses?: readonly number[];
  }
}

export function traitsOf(app: FastifyInstance, route: RouteOptions, dialect: Dialect): RequestTraits {
  const { method, url, config, schema } = route;
  const changes = changesSomething(String(method), config);
  return {
    // Idempotency keys belong to a user, so public routes have none.
    keyed: changes && config?.access !== 'public' && (method === 'POST' || method === 'PATCH'),
    versioned: changes && app.versionedAt(url) !== undefined,
    tried: changes && config?.access !== 'public' && method !== 'GET',
    counted: !config?.uncounted,
    secret: config?.secretAnswer === true,
    changes: changes && method !== 'GET',
    refuses: config?.refuses ?? [],
    openBody: dialect.openBodies && schema?.body !== undefined && mayBeOpen(route),
  };
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'idempotency-key',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]([ -~]*[!-~])?$',
    description:
      'Carries the request out only once: if it is repeated within 24 hours with the same key and body, the answer is the same, with `Idempotency-Replayed: true`. Another request with the same key is refused with 422.',
  },
};

const IF_MATCH: Parameter = {
  name: 'if-match',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    pattern: '^(\\*|(W/)?"[!#-~]*"(, *(W/)?"[!#-~]*")*)$',
    description:
      'The `ETag` from an earlier read, such as `"7"`: the change is made only if the resource has not changed since, else 412.',
  },
};

const flag = (name: string, description: string): Parameter => ({
  name,
  in: 'header',
  required: false,
  schema: { type: 'string', enum: ['true', 'false'], description },
});

const DRY_RUN = flag(
  'tradewind-dry-run',
  'With `true`, nothing is changed: the answer is the refusal that the request would get, or else 200 with what it would do (`tasks`, `resource`, `changes` as JSON Patch, `price_per_month_difference`, `currency_code`, `quotas`).',
);

const STRICT = flag(
  'tradewind-strict',
  'With `true`, fields of the body that this operation does not know are refused. Otherwise they are ignored, and the answer names them in `Tradewind-Ignored`.',
);

/** Adds the request headers that each operation accepts. */
export function withRequestHeaders(
  document: OpenApiDocument,
  traits: ReadonlyMap<string, RequestTraits>,
): OpenApiDocument {
  const paths = mapOperations(document, completed);
  const anyOpen = [...traits.values()].some(({ openBody }) => openBody);
  const parameters = {
    DryRun: DRY_RUN,
    IdempotencyKey: IDEMPOTENCY_KEY,
    IfMatch: IF_MATCH,
    ...(anyOpen && { Strict: STRICT }),
  };
  return { ...document, paths, components: { ...document.components, parameters } };

  function completed(operation: Operation): Operation {
    const known = traits.get(operation.operationId);
    const added = [
      ...(known?.keyed ? [ref('IdempotencyKey')] : []),
      ...(known?.versioned ? [ref('IfMatch')] : []),
      ...(known?.tried ? [ref('DryRun')] : []),
      ...(known?.openBody ? [ref('Strict')] : []),
    ];
    if (added.length === 0) return operation;
    return { ...operation, parameters: [...(operation.parameters ?? []), ...added] };
  }
}

function ref(name: string): { $ref: string } {
  return { $ref: `#/components/parameters/${name}` };
}

/** Shows the bodies open that ignore unknown fields, with all schemas that they name. */
export function withOpenBodies(document: OpenApiDocument, traits: ReadonlyMap<string, RequestTraits>): OpenApiDocument {
  const schemas = { ...document.components.schemas };
  const seen = new Set<string>();

  function opened(node: unknown): unknown {
    if (Array.isArray(node)) return node.map(opened);
    if (typeof node !== 'object' || node === null) return node;
    const { $ref } = node as { $ref?: unknown };
    const name = typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? '') : undefined;
    if (name !== undefined && !seen.has(name)) {
      seen.add(name);
      schemas[name] = opened(schemas[name]) as object;
    }
    const entries = Object.entries(node).filter(([key, value]) => key !== 'additionalProperties' || value !== false);
    return Object.fromEntries(entries.map(([key, value]) => [key, opened(value)]));
  }

  const paths = mapOperations(document, (operation) =>
    operation.requestBody && traits.get(operation.operationId)?.openBody
      ? ({ ...operation, requestBody: opened(operation.requestBody) as object } as Operation)
      : operation,
  );
  return { ...document, paths, components: { ...document.components, schemas } };
}

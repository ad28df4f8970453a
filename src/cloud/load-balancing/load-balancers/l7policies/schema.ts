import { type Static, Type } from 'typebox';
import { PlaceFields, TaskFields, Uuid, UuidInput } from '../../../../lib/resource-fields.ts';
import * as wire from '../../../../lib/wire.ts';
import type { Scope } from '../../../../platform.ts';
import { statusFields } from '../schema.ts';
import type { Forest } from '../tree/parts.ts';

const { Optional } = Type;

/** Our own limits. None are published. */
export const MAX_POLICIES = 50;
export const MAX_RULES = 50;
const MAX_POSITION = 2_147_483_647;

const Labels = Type.Array(Type.String({ minLength: 1, maxLength: 255, examples: ['shop'] }), {
  maxItems: 64,
  description: 'Plain labels',
});
/** They end up in requests and in the configuration of a proxy, where a line break would begin a header or a setting. */
const onOneLine = {
  pattern: '^[^\\x00-\\x1f\\x7f]{1,255}$',
  rule: 'Must be 1 to 255 characters on one line.',
};
const Target = (description: string, example: string) =>
  Type.String({ ...onOneLine, description, examples: [example] });
const redirect_http_code = Optional(
  Type.Unsafe<301 | 302 | 303 | 307 | 308>({
    type: 'integer',
    enum: [301, 302, 303, 307, 308],
    description: 'Code of the answer; 302 by default',
  }),
);

const common = {
  name: Optional(wire.ResourceName('Name; the ID by default')),
  position: wire.OptionalInteger({
    minimum: 1,
    maximum: MAX_POSITION,
    description: 'Place among the policies of the listener; the last one by default',
    examples: [1],
  }),
  tags: Optional(Labels),
};
const own = {
  REDIRECT_PREFIX: {
    redirect_prefix: Target('Address or path that is put before the requested path', 'https://www.example.com'),
    redirect_http_code,
  },
  REDIRECT_TO_POOL: { redirect_pool_id: UuidInput('Pool that gets the requests') },
  REDIRECT_TO_URL: {
    redirect_url: Target('Address to which clients are sent', 'https://www.example.com'),
    redirect_http_code,
  },
  REJECT: {},
};
type PolicyAction = keyof typeof own;
const listener_id = UuidInput('Listener');

const form = <A extends PolicyAction, P extends object>(title: string, action: A, fields: P) =>
  Type.Object(
    { action: Type.Literal(action), ...common, ...own[action], ...fields },
    { title, additionalProperties: false },
  );
const createForms = [
  form('CreateRedirectToUrl', 'REDIRECT_TO_URL', { listener_id }),
  form('CreateRedirectPrefix', 'REDIRECT_PREFIX', { listener_id }),
  form('CreateRedirectToPool', 'REDIRECT_TO_POOL', { listener_id }),
  form('CreateReject', 'REJECT', { listener_id }),
] as const;
const updateForms = [
  form('UpdateRedirectToUrl', 'REDIRECT_TO_URL', {}),
  form('UpdateRedirectPrefix', 'REDIRECT_PREFIX', {}),
  form('UpdateRedirectToPool', 'REDIRECT_TO_POOL', {}),
  form('UpdateReject', 'REJECT', {}),
] as const;

/** The fields of all forms, of which each has those of its action. */
export interface PolicyInput {
  action: PolicyAction;
  name?: string;
  position?: number;
  tags?: string[];
  redirect_url?: string;
  redirect_prefix?: string;
  redirect_pool_id?: string;
  redirect_http_code?: number;
}
const anyOf = <T extends PolicyInput>(title: string, forms: readonly object[], example: object) =>
  Type.Unsafe<T>({
    type: 'object',
    title,
    discriminator: { propertyName: 'action' },
    required: ['action'],
    oneOf: forms,
    examples: [example],
  });
export type CreatePolicy = PolicyInput & { listener_id: string };
export const CreatePolicy = anyOf<CreatePolicy>('CreateL7Policy', createForms, {
  action: 'REDIRECT_TO_URL',
  listener_id: '4d5e3f2a-1b0c-4d9e-8f7a-6b5c4d3e2f1a',
  redirect_url: 'https://www.example.com',
});
export const UpdatePolicy = anyOf<PolicyInput>('UpdateL7Policy', updateForms, {
  action: 'REDIRECT_TO_URL',
  redirect_url: 'https://shop.example.com',
  redirect_http_code: 301,
});

const RuleType = wire.oneOf(
  ['COOKIE', 'FILE_TYPE', 'HEADER', 'HOST_NAME', 'PATH', 'SSL_CONN_HAS_CERT', 'SSL_DN_FIELD', 'SSL_VERIFY_RESULT'],
  { description: 'What is compared', examples: ['PATH'] },
);
const CompareType = wire.oneOf(['CONTAINS', 'ENDS_WITH', 'EQUAL_TO', 'REGEX', 'STARTS_WITH'], {
  description: 'How it is compared',
  examples: ['STARTS_WITH'],
});
const ruleFields = {
  invert: wire.OptionalFlag({ description: 'Whether it must not match; false by default' }),
  key: wire.OptionalText({
    pattern: "^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,255}$",
    rule: 'Must be 1 to 255 letters, digits and characters that names of headers may have.',
    description: 'Name of the cookie, header or field. Only for COOKIE, HEADER and SSL_DN_FIELD.',
    examples: ['Accept'],
  }),
  tags: Optional(Labels),
};
const value = Type.String({
  ...onOneLine,
  description: 'What it is compared with',
  examples: ['/images'],
});
export const CreateRule = wire.Input(
  'CreateL7Rule',
  { type: RuleType, compare_type: CompareType, value, ...ruleFields },
  { type: 'PATH', compare_type: 'STARTS_WITH', value: '/images' },
);
export type CreateRule = Static<typeof CreateRule>;
export const ReplaceRule = wire.Input(
  'ReplaceL7Rule',
  {
    type: Optional(RuleType),
    compare_type: Optional(CompareType),
    value: Optional(value),
    ...ruleFields,
  },
  { type: 'PATH', compare_type: 'STARTS_WITH', value: '/pictures' },
);
export type ReplaceRule = Static<typeof ReplaceRule>;

const text = (description: string) => wire.TextOrNull({ description });

export const RuleAnswer = wire.Named('L7Rule', {
  id: Uuid('L7 rule ID'),
  type: RuleType,
  compare_type: CompareType,
  key: text('Name of the cookie, header or field'),
  value: Type.String(),
  invert: Type.Boolean(),
  tags: Type.Array(Type.String()),
  ...statusFields,
  ...PlaceFields,
  task_id: TaskFields.task_id,
});
export type RuleAnswer = Static<typeof RuleAnswer>;
export const RuleList = wire.listOf(RuleAnswer, 'L7RuleList');

export const PolicyAnswer = wire.Named('L7Policy', {
  id: Uuid('L7 policy ID'),
  listener_id: Uuid('Listener ID'),
  name: Type.String(),
  action: wire.oneOf(['REDIRECT_PREFIX', 'REDIRECT_TO_POOL', 'REDIRECT_TO_URL', 'REJECT'], {
    description: 'What becomes of a request that matches all rules',
  }),
  position: Type.Integer({ description: 'Place among the policies of the listener' }),
  redirect_http_code: wire.IntegerOrNull({ description: 'Code of the answer' }),
  redirect_pool_id: text('Pool that gets the requests'),
  redirect_prefix: text('Address or path that is put before the requested path'),
  redirect_url: text('Address to which clients are sent'),
  rules: Type.Array(wire.Named('L7RuleOfPolicy', { id: Uuid('L7 rule ID'), ...PlaceFields }), {
    description: 'All of them have to match',
  }),
  tags: Type.Array(Type.String()),
  ...statusFields,
  ...PlaceFields,
  task_id: TaskFields.task_id,
});
export type PolicyAnswer = Static<typeof PolicyAnswer>;
export const PolicyList = wire.listOf(PolicyAnswer, 'L7PolicyList');

export const L7ListQuery = wire.Query(wire.listQuery());

export const PolicyParams = wire.PlaceParams({ l7policy_id: 'L7 policy ID' });
export const RuleParams = Type.Object({
  ...PolicyParams.properties,
  l7rule_id: Type.String({ description: 'L7 rule ID' }),
});

const place = (scope: Scope) => ({
  project_id: scope.projectId,
  region: scope.region.display_name,
  region_id: scope.regionId,
});

export function presentedPolicy(row: Forest['policies'][number], forest: Forest, scope: Scope): PolicyAnswer {
  return {
    rules: (forest.rulesOf.get(row.id) ?? []).map(({ id }) => ({ id, ...place(scope) })),
    ...row,
    operating_status: forest.statuses.get(row.id) ?? 'OFFLINE',
    ...place(scope),
  };
}

export function presentedRule(row: Forest['rules'][number], forest: Forest, scope: Scope): RuleAnswer {
  return {
    operating_status: forest.statuses.get(row.id) ?? 'OFFLINE',
    ...row,
    type: row.type as RuleAnswer['type'],
    compare_type: row.compare_type as RuleAnswer['compare_type'],
    ...place(scope),
  };
}

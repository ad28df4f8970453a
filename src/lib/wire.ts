import { type Static, type TProperties, type TSchema, type TString, type TUnsafe, Type } from 'typebox';

/**
 * Options of a nullable field whose published type is a plain text or number. Generated clients fail on null,
 * so the answer at `/gcore` has an empty text instead, or leaves the field out.
 */
export const NULL_AS_EMPTY = { 'x-null': 'empty' } as const;
export const NULL_AS_ABSENT = { 'x-null': 'absent' } as const;

/*
 * Name patterns of the API. Each is a string for a schema's `pattern`, together with the text that follows
 * "the name" in a sentence for people. All are linear: one bounded or one unbounded repetition, never nested.
 */

/** Security groups, instances, volumes, snapshots, networks, subnets, file shares, projects, images, SSH keys. */
export const NAME_PATTERN = '^[a-zA-Z0-9][a-zA-Z 0-9._\\-]{1,61}[a-zA-Z0-9._]$';
export const NAME_RULE =
  'must be 3 to 63 characters long: letters, digits, spaces, dots, underscores and hyphens, ' +
  'beginning with a letter or digit and ending with a letter, digit, dot or underscore';

/** Kubernetes clusters and pools. */
export const KUBERNETES_NAME_PATTERN = '^[a-z][a-z0-9\\-]{0,18}[a-z0-9]$';
export const KUBERNETES_NAME_RULE =
  'must be 2 to 20 characters long: lower-case letters, digits and hyphens, ' +
  'beginning with a letter and ending with a letter or digit';

/* Schemas that many features share. */

/** An object with a name in the OpenAPI document. */
export const Named = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title });

/** An object that clients send. It also has a name, and unknown fields are refused. */
export const Input = <P extends TProperties>(title: string, properties: P, example?: object) =>
  Type.Object(properties, { title, additionalProperties: false, ...(example && { examples: [example] }) });

/** An object without a name of its own, in which unknown fields are refused. */
export const Closed = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });

/** Query parameters. Unknown ones are refused. */
export const Query = <P extends TProperties>(properties: P) => Closed(properties);

/** A field that clients may send back as they read it. */
export const ReadOnly = Type.Optional(Type.Unknown({ description: 'Read-only: ignored in requests' }));

const MAX_ID = Number.MAX_SAFE_INTEGER;

export const IntegerId = (description: string) =>
  Type.Integer({ minimum: 0, maximum: MAX_ID, description, examples: [1] });

export const Timestamp = (description?: string) =>
  Type.String({ format: 'date-time', ...(description !== undefined && { description }) });

/**
 * The format of `offsetTimestamp`. Not `date-time`: RFC 3339 requires a colon in the offset, and clients check that.
 */
export const OffsetTimestamp = () =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\+0000$',
    description: 'In UTC',
    examples: ['2019-06-18T11:56:16+0000'],
  });

/** The name of a security group, instance, volume, network and the like. */
export const ResourceName = (description: string) =>
  Type.String({
    pattern: NAME_PATTERN,
    rule: `The name ${NAME_RULE}.`,
    description: `${description}; it ${NAME_RULE}.`,
    examples: ['web servers'],
  });

/** Path parameters of everything that lives in a project and a region. */
export const ProjectRegion = {
  project_id: IntegerId('Project ID'),
  region_id: IntegerId('Region ID'),
};
export const ProjectRegionParams = Type.Object(ProjectRegion);

/** The parameters of paths to something in a project and a region: its ID or name, with a description. */
export const PlaceParams = <Name extends string>(names: Record<Name, string>) =>
  Type.Object({
    ...ProjectRegion,
    ...(Object.fromEntries(
      Object.entries<string>(names).map(([name, description]) => [name, Type.String({ description })]),
    ) as Record<Name, TString>),
  });

const limitOf = (value: number) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: value, description: 'Maximum number of results' }),
  ),
});

/** `limit` and `offset` of cloud lists. */
export const listQuery = (defaultLimit = 1000) => ({
  ...limitOf(defaultLimit),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: MAX_ID, default: 0, description: 'Results to skip before the first' }),
  ),
});

/** `limit` and `offset` of lists in the account area. */
export const pageQuery = (defaultLimit = 100) => ({
  ...limitOf(defaultLimit),
  offset: Type.Optional({ ...IntegerId('Results to skip before the first'), default: 0 }),
});

export const PageQuery = Query(pageQuery());
export type PageQuery = Static<typeof PageQuery>;

export const ClientParams = Type.Object({ clientId: IntegerId('Client ID') });
export const UserParams = Type.Object({ userId: IntegerId('User ID') });

const PageAddress = (which: string) =>
  Type.Unsafe<string | null>({
    type: ['string', 'null'],
    ...NULL_AS_ABSENT,
    description: `Address of the ${which} page, relative to the base address`,
  });

/** The fields that describe a page in the account area. */
export const pageFields = {
  count: Type.Integer({ description: 'Number of all matches, not only those on this page' }),
  next: PageAddress('next'),
  previous: PageAddress('previous'),
};

/** The answer of a cloud list. `count` is the number of all matches, not the page's size. */
export const listOf = <T extends TSchema>(item: T, title: string) =>
  Named(title, { count: pageFields.count, results: Type.Array(item) });

/** A time in a query string. `calendarTime` reads it. */
export const QueryTime = (description: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?([Zz]|[+-]\\d{2}:?\\d{2})?$',
    rule: 'Must be a date and time such as 2026-05-23T05:07:31Z; without a zone it is in UTC.',
    description,
    examples: ['2026-05-23T05:07:31Z'],
  });

export const SortOrder = Type.Enum(['asc', 'desc'], { type: 'string' });

/** A query parameter that may be repeated for several ids. */
export const RepeatedId = (description: string) =>
  Type.Optional(
    Type.Array(IntegerId(description), {
      maxItems: 100,
      description: 'Repeat the parameter for several IDs',
    }),
  );

/**
 * Returns the schema with null allowed, as one `type: [..., 'null']` instead of an `anyOf`: validators then
 * report one error, and serialisers need not try branches. For schemas with a plain `type`, including enums.
 */
export function nullable<T extends TSchema & { type?: string }>(schema: T): TUnsafe<Static<T> | null> {
  const { type, enum: values } = schema as { type?: string; enum?: unknown[] };
  if (type === undefined) throw new TypeError('nullable() needs a schema with a plain type');
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [type, 'null'],
    ...(values ? { enum: [...values, null] } : {}),
  });
}

/* The fields that schemas have most: texts, whole numbers and flags that may be left out or null. */
type TextOptions = Parameters<typeof Type.String>[0];
type IntegerOptions = Parameters<typeof Type.Integer>[0];

export const TextOrNull = (options: TextOptions) => nullable(Type.String(options));
export const IntegerOrNull = (options: IntegerOptions) => nullable(Type.Integer(options));
export const OptionalText = (options: TextOptions) => Type.Optional(Type.String(options));
export const OptionalInteger = (options: IntegerOptions) => Type.Optional(Type.Integer(options));
export const OptionalFlag = (options: Parameters<typeof Type.Boolean>[0]) => Type.Optional(Type.Boolean(options));
export const OptionalTextOrNull = (options: TextOptions) => Type.Optional(TextOrNull(options));
export const OptionalIntegerOrNull = (options: IntegerOptions) => Type.Optional(IntegerOrNull(options));

/**
 * The value or null. With a union, a titled object stays a separate component of the API document. No schema of an
 * update has a `default`: the validator would fill it in, and nobody could tell that the field was absent.
 */
export const orNull = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** A map from text to text. `propertyNames` and `additionalProperties` also reach keys with line breaks. */
export const textMap = (
  limits: { keyLength: number; valueLength: number; entries: number },
  annotations: { title?: string; description: string; examples: Record<string, string>[] },
) =>
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    ...annotations,
    maxProperties: limits.entries,
    propertyNames: { type: 'string', minLength: 1, maxLength: limits.keyLength },
    additionalProperties: { type: 'string', maxLength: limits.valueLength },
  });

/** One of several texts. */
export const oneOf = <const V extends readonly string[]>(values: V, annotations: object) =>
  Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...annotations });

/** One of several texts. A text instead of annotations is the description. */
export const Choice = <const V extends readonly string[]>(values: V, annotations: string | object = {}) =>
  Type.Unsafe<V[number]>({
    enum: [...values],
    type: 'string',
    ...(typeof annotations === 'string' ? { description: annotations } : annotations),
  });

export const OptionalChoice = <const V extends readonly string[]>(values: V, annotations: string | object = {}) =>
  Type.Optional(Choice(values, annotations));

export const OptionalList = <T extends TSchema>(items: T, options: Parameters<typeof Type.Array>[1] = {}) =>
  Type.Optional(Type.Array(items, options));

/** A closed object whose fields are all optional. */
export const closed = <P extends Record<string, TSchema>>(
  properties: P,
  annotations: { title?: string; description: string; examples?: object[] },
) => Type.Object(properties, { ...annotations, additionalProperties: false });

const UUID = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';

/** A query parameter with ids separated by commas. */
export const IdList = (description: string) =>
  Type.String({
    maxLength: 18_500,
    pattern: `^(${UUID}(,${UUID})*)?$`,
    rule: 'Must be UUIDs separated by commas.',
    description: `${description}; separated by commas`,
  });

export function idsOf(list: string | undefined): string[] {
  return list === undefined || list === '' ? [] : list.toLowerCase().split(',');
}

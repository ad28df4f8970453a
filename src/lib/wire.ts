import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { NULL_AS_ABSENT } from './client-nulls.ts';
import { NAME_PATTERN, NAME_RULE } from './names.ts';

/** Schemas that many features share. */

/** An object with a name in the OpenAPI document. */
export const Named = <P extends TProperties>(title: string, properties: P) =>
  Type.Object(properties, { title });

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
 * The format of `offsetTimestamp`. Not `date-time`: RFC 3339 requires a colon in the offset, and clients
 * check that.
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

const limitOf = (value: number) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, default: value, description: 'Maximum number of results' }),
  ),
});

/** `limit` and `offset` of cloud lists. */
export const listQuery = (defaultLimit = 1000) => ({
  ...limitOf(defaultLimit),
  offset: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_ID,
      default: 0,
      description: 'Results to skip before the first',
    }),
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

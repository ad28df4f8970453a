import { Type } from 'typebox';
import { pageQuery } from './wire.ts';

/** The most that a list without a limit returns. */
export const MOST_LISTED = 10_000;

/** Query fields of a list that is an array, or pages with a `limit`, ordered by one or more of the fields. */
export function orderedListQuery(fields: readonly string[]) {
  const one = `-?(${fields.join('|')})`;
  const named = fields.join(', ');
  return {
    ...pageQuery(),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        description:
          'Maximum number of results on a page. Without it, the answer is an array of all matches.',
      }),
    ),
    ordering: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: `^${one}(,${one})*$`,
        rule: `Must be one or more of ${named}, separated by commas; a minus before a field reverses its order.`,
        description: `Fields to order by, separated by commas: ${named}. A minus before a field reverses its order.`,
        default: 'id',
      }),
    ),
  };
}

/** Returns the fields and directions of an ordering such as `-created_at,id`. */
export function orderingOf<Field extends string>(
  ordering = 'id',
): { field: Field; direction: 'asc' | 'desc' }[] {
  return ordering.split(',').map((field) => ({
    field: field.replace('-', '') as Field,
    direction: field.startsWith('-') ? 'desc' : 'asc',
  }));
}

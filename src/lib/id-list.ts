import { Type } from 'typebox';

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

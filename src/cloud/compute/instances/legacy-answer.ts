import { Type } from 'typebox';
import { InvalidError } from '../../../lib/errors.ts';
import { LEGACY } from '../../../lib/legacy.ts';
import { MetadataTwice, metadataTwice } from '../../../lib/legacy-metadata.ts';
import { legacyTagQuery, MAX_QUERY_JSON, textArray } from '../../../lib/tags.ts';
import { OptionalText, TextOrNull } from '../../../lib/wire.ts';

/** Fields that the library under the older Terraform provider reads of instances, and its filters of the list. */

export const legacyInstanceFields = {
  instance_id: Type.String({ format: 'uuid', ...LEGACY, description: 'Same as `id`' }),
  instance_name: Type.String({ ...LEGACY, description: 'Same as `name`' }),
  instance_created: Type.String({ format: 'date-time', ...LEGACY, description: 'Same as `created_at`' }),
  keypair_name: { ...TextOrNull({ description: 'Same as `ssh_key_name`' }), ...LEGACY },
  ...MetadataTwice,
};

export function legacyInstance(row: {
  id: string;
  name: string;
  created_at: string;
  ssh_key_name: string | null;
  tags: Record<string, string>;
}) {
  return {
    instance_id: row.id,
    instance_name: row.name,
    instance_created: row.created_at,
    keypair_name: row.ssh_key_name,
    ...metadataTwice(row.tags),
  };
}

export const legacyInstanceQuery = {
  ...legacyTagQuery,
  metadata_v: OptionalText({
    maxLength: MAX_QUERY_JSON,
    ...LEGACY,
    description: 'JSON array of values, like `tag_value`; all must be present',
  }),
};

/** @throws InvalidError when `metadata_v` isn't a JSON array of texts */
export function metadataValues(text: string | undefined): string[] {
  if (text === undefined) return [];
  const values = textArray(text);
  if (values) return values;
  throw new InvalidError({ metadata_v: ['Must be a JSON array of strings, such as ["production"].'] });
}

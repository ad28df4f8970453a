import { Type } from 'typebox';
import { InvalidError } from '../../lib/errors.ts';
import { LEGACY } from '../../lib/legacy.ts';
import type { FileShareType } from './tables.ts';

/** The kind of a share under its older name, which the library under the older Terraform provider sends alone. */

export const VOLUME_TYPES = { standard: 'default_share_type', vast: 'vast_share_type' } as const;

export const legacyType = {
  volume_type: Type.Optional(
    Type.Enum(Object.values(VOLUME_TYPES), {
      type: 'string',
      ...LEGACY,
      description: 'Same as type_name, in other words',
    }),
  ),
};

/** The kind that a request names by either name. @throws InvalidError when the two differ */
export function typeNamed(request: {
  type_name?: FileShareType;
  volume_type?: (typeof VOLUME_TYPES)[FileShareType];
}): FileShareType | undefined {
  const { type_name: named, volume_type: older } = request;
  if (older === undefined) return named;
  const meant = older === VOLUME_TYPES.vast ? 'vast' : 'standard';
  if (named === undefined || named === meant) return meant;
  throw new InvalidError({ volume_type: [`Differs from type_name ${named}; leave it out.`] });
}

import { Type } from 'typebox';
import { InvalidError } from '../../../lib/errors.ts';
import { LEGACY } from '../../../lib/legacy.ts';
import type { FileShareType } from './share-types.ts';

/** The type of a share under its older name. The library under the older Terraform provider sends only this one. */

export const VOLUME_TYPES = { standard: 'default_share_type', vast: 'vast_share_type' } as const;

export const legacyType = {
  volume_type: Type.Optional(
    Type.Enum(Object.values(VOLUME_TYPES), {
      type: 'string',
      ...LEGACY,
      description: 'Equivalent of type_name with other values',
    }),
  ),
};

/** Returns the type of a share, whichever of the two fields names it. @throws InvalidError when they differ */
export function typeNamed(request: {
  type_name?: FileShareType;
  volume_type?: (typeof VOLUME_TYPES)[FileShareType];
}): FileShareType | undefined {
  const { type_name: named, volume_type: older } = request;
  if (older === undefined) return named;
  const meant = older === VOLUME_TYPES.vast ? 'vast' : 'standard';
  if (named === undefined || named === meant) return meant;
  throw new InvalidError({ volume_type: [`Conflicts with type_name ${named}; leave it out.`] });
}

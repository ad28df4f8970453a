import { Type } from 'typebox';
import { type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import { LEGACY } from '../../../../lib/legacy.ts';
import { OptionalInteger, OptionalList, OptionalText, ResourceName } from '../../../../lib/wire.ts';
import { VolumeTypeName } from '../../../ground/catalog/schema.ts';
import { NameTemplate } from './names.ts';

/** What the library under the older Terraform provider sends to create an instance, and what that means today. */

/** The library has lists of names, of which the provider fills only the first entry. */
const oneOf = (item: ReturnType<typeof ResourceName>, now: string) =>
  OptionalList(item, {
    ...LEGACY,
    minItems: 1,
    maxItems: 100,
    description: `A list with one entry, the \`${now}\``,
  });

export const legacyCreation = {
  names: oneOf(ResourceName('Name'), 'name'),
  name_templates: oneOf(NameTemplate, 'name_template'),
  keypair_name: OptionalText({ ...LEGACY, maxLength: 255, description: 'Same as `ssh_key_name`; empty for none' }),
};
/** The library sends a boot index for every volume. */
export const legacyBlankVolume = {
  boot_index: OptionalInteger({
    ...LEGACY,
    minimum: -1000,
    maximum: 1000,
    description: 'Only orders the other volumes: a blank volume never boots',
  }),
};
export const legacyExistingVolume = {
  name: OptionalText({ ...LEGACY, maxLength: 255, description: 'Ignored: the volume keeps its name' }),
  type_name: Type.Optional({
    ...VolumeTypeName,
    ...LEGACY,
    description: 'Ignored: the volume keeps its type',
  }),
};
/** The library has one form for existing floating IPs and for new ones. */
export const legacyNewFloatingIp = {
  existing_floating_id: OptionalText({ ...LEGACY, maxLength: 0, description: 'Must be empty' }),
};

const OLDER = { name: 'names', name_template: 'name_templates', ssh_key_name: 'keypair_name' } as const;
const OLDER_FIELDS = Object.entries(OLDER) as [keyof typeof OLDER, keyof LegacyBody][];

interface LegacyBody {
  names?: string[];
  name_templates?: string[];
  keypair_name?: string;
}
interface Body extends LegacyBody {
  name?: string;
  name_template?: string;
  ssh_key_name?: string | null;
  volumes: { source: string; boot_index?: number }[];
}

/** Returns the request in today's fields. @throws InvalidError if older fields contradict them or give several names */
export function inTodaysFields<T extends Body>(body: T): Omit<T, keyof LegacyBody> {
  const problems = OLDER_FIELDS.flatMap(([now, older]): FieldProblem[] => {
    const given = body[older];
    if (given !== undefined && body[now] !== undefined) {
      return [{ field: older, message: `Is the old name of ${now}; send only one of the two.` }];
    }
    return Array.isArray(given) && given.length > 1
      ? [{ field: older, message: 'Send a single entry: a request creates one instance.' }]
      : [];
  });
  if (problems.length > 0) throw new InvalidError(problems);
  const { names, name_templates, keypair_name, ...rest } = body;
  const left = placesLeftBy(body.volumes);
  return {
    ...rest,
    ...(names && { name: names[0] }),
    ...(name_templates && { name_template: name_templates[0] }),
    ...(keypair_name && { ssh_key_name: keypair_name }),
    volumes: body.volumes.map((volume) => ({
      ...volume,
      ...(volume.boot_index !== undefined && { boot_index: placeOf(volume, left) }),
      ...(volume.source === 'existing-volume' && { name: undefined, type_name: undefined }),
    })),
  };
}

/** Returns the places in the boot order that only blank volumes have. */
function placesLeftBy(volumes: Body['volumes']): number[] {
  const places = (ofBlank: boolean) =>
    volumes.flatMap(({ source, boot_index: place = -1 }) =>
      place >= 0 && (source === 'new-volume') === ofBlank ? [place] : [],
    );
  const taken = new Set(places(false));
  return [...new Set(places(true))].filter((place) => !taken.has(place));
}

/** The volumes behind a blank one, which never boots, move up. */
function placeOf({ source, boot_index: place = 0 }: Body['volumes'][number], left: readonly number[]) {
  return source === 'new-volume' ? undefined : place - left.filter((one) => one < place).length;
}

/** Moves the faults to the fields that the request has. */
export function inFieldsOf(body: Body, error: unknown): unknown {
  if (!(error instanceof InvalidError)) return error;
  const entries = Object.entries(error.fields).map(([field, texts]) => [olderField(body, field), texts]);
  return new InvalidError(Object.fromEntries(entries));
}

function olderField(body: Body, field: string): string {
  const [, older] = OLDER_FIELDS.find(([now]) => now === field) ?? [];
  const given = older && body[older];
  if (!older || given === undefined) return field;
  return Array.isArray(given) ? `${older}.0` : older;
}

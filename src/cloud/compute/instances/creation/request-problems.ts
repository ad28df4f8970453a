import { basicValue, type DdosTemplate, ddosProfileProblems } from '../../../../lib/ddos-profile.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { InstanceVolumeWish } from '../../../storage/volumes/of-instances/in-transaction.ts';
import { type AttachInterface, kindProblems, ofItsKind } from '../interfaces/schema.ts';
import type { CreateInstance, NewInstanceVolume, NewInterface } from '../schema.ts';

/** Room for the settings of an application. */
const MAX_CONFIGURATION = 65_536;

/** Returns the problems that need no look-up: wrong combinations, and what isn't offered. */
export function requestProblems(request: CreateInstance): FieldProblem[] {
  const problems = request.interfaces.flatMap((one, index) => interfaceProblems(one, `interfaces.${index}`));
  const complain = (field: string, message: string) => void problems.push({ field, message });
  problems.push(...volumeProblems(request.volumes));
  if (request.name !== undefined && request.name_template !== undefined) {
    complain('name_template', 'Send either name or name_template, not both.');
  }
  if (request.security_groups && request.interfaces.some((one) => one.security_groups)) {
    complain('security_groups', 'Set security groups either here or per interface, not both.');
  }
  if ((request.user_data ?? '').replace(/[\r\n]/g, '').length % 4 !== 0) {
    complain('user_data', 'Must be base64-encoded with its padding: a multiple of four characters.');
  }
  if (request.servergroup_id !== undefined && isBareMetal(request.flavor)) {
    complain('servergroup_id', "Bare metal machines can't be in a placement group; leave it out.");
  }
  if (JSON.stringify(request.configuration ?? null).length > MAX_CONFIGURATION) {
    complain('configuration', `Must have at most ${MAX_CONFIGURATION} characters as JSON.`);
  }
  return problems;
}

/** Does the same for an interface that is attached later. */
export function attachProblems(
  given: AttachInterface,
  flavorId: string,
  ddosTemplates: readonly DdosTemplate[],
): FieldProblem[] {
  const missing = kindProblems(given, '');
  if (missing.length > 0) return missing;
  const problems = [
    ...interfaceProblems(ofItsKind(given), 'interfaces.0'),
    ...profileProblems(given.ddos_profile ?? null, ddosTemplates),
  ];
  if ((given.port_group ?? 0) !== 0 && !isBareMetal(flavorId)) {
    problems.push({ field: 'port_group', message: 'Must be 0, except on bare metal machines.' });
  }
  return problems;
}

function profileProblems(
  profile: AttachInterface['ddos_profile'],
  ddosTemplates: readonly DdosTemplate[],
): FieldProblem[] {
  if (!profile) return [];
  const { profile_template, profile_template_name = null, fields = [] } = profile;
  const twice = fields.flatMap(({ field_value = null, value = null }, index): FieldProblem[] => {
    if (field_value === null || value === null) return [];
    return [{ field: `ddos_profile.fields.${index}.value`, message: 'Send either field_value or value, not both.' }];
  });
  if (twice.length > 0) return twice;
  const known = ddosTemplates.find(({ id }) => id === profile_template)?.fields ?? [];
  const wanted = fields.map(({ base_field, field_value = null, value = null }) => {
    const schema = known.find(({ id }) => id === base_field)?.validation_schema;
    return { base_field, field_value: value === null ? field_value : basicValue(value, schema) };
  });
  return ddosProfileProblems(
    { enabled: true, profile_template, profile_template_name, fields: wanted },
    { ddosTemplates },
  ).map(({ field, message }) => ({ field: asSent(field, fields), message }));
}

/** Names a wrong value by the field that it came in. */
function asSent(field: string, fields: readonly { value?: string | null }[]): string {
  const [, index] = /^ddos_profile\.fields\.(\d+)\.field_value$/.exec(field) ?? [];
  const isText = index !== undefined && typeof fields[Number(index)]?.value === 'string';
  return isText ? field.replace(/field_value$/, 'value') : field;
}

export function volumeProblems(volumes: readonly { source: NewInstanceVolume['source'] }[]): FieldProblem[] {
  const message = 'Application templates are not supported; use an image.';
  return volumes.flatMap(({ source }, index) =>
    source === 'apptemplate' ? [{ field: `volumes.${index}.source`, message }] : [],
  );
}

/** Returns the volume unless it is an application template, which is refused elsewhere. */
export function offeredVolume(given: NewInstanceVolume): InstanceVolumeWish[] {
  return given.source === 'apptemplate' ? [] : [given];
}

/** `field` is the interface's field in the request. */
export function interfaceProblems(given: NewInterface, field: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  if (given.type === 'subnet' && given.ip_family === 'dual') {
    const message = 'A subnet has addresses of a single family; use any_subnet to get one of each.';
    problems.push({ field: `${field}.ip_family`, message });
  }
  return problems;
}

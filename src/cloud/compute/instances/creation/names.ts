import ipaddr from 'ipaddr.js';
import { Type } from 'typebox';
import { InvalidError } from '../../../../lib/errors.ts';
import { NAME_PATTERN, NAME_RULE } from '../../../../lib/wire.ts';

export const NameTemplate = Type.String({
  pattern: '^[a-zA-Z0-9{][a-zA-Z 0-9._\\-}{]{1,61}[a-zA-Z0-9._}]$',
  rule: 'Must be 3 to 63 letters, digits, spaces, dots, underscores, hyphens and placeholders.',
  description:
    'Name with a placeholder for the last three, two or one bytes of the first address: {ip_octets}, {two_ip_octets} or {one_ip_octet}. Not together with name.',
  examples: ['worker-{two_ip_octets}'],
});

/** How many of the last bytes of the first address each placeholder stands for. */
const PLACEHOLDERS = new Map([
  ['ip_octets', 3],
  ['two_ip_octets', 2],
  ['one_ip_octet', 1],
]);
const DEFAULT_TEMPLATE = 'instance-{ip_octets}';

/**
 * Returns the name of a new instance. Without a name and a template, it is named after its address.
 * @throws InvalidError when the template can't be filled in
 */
export function instanceName(
  request: { name?: string | undefined; name_template?: string | undefined },
  address: string,
): string {
  if (request.name !== undefined) return request.name;
  const template = request.name_template ?? DEFAULT_TEMPLATE;
  const octets = address === '' ? [] : ipaddr.parse(address).toByteArray();
  const name = template.replace(/\{([^{}]*)\}/g, (whole, placeholder: string) => {
    const amount = PLACEHOLDERS.get(placeholder);
    return amount === undefined ? whole : octets.slice(-amount).join('-');
  });
  if (/[{}]/.test(name)) {
    const known = [...PLACEHOLDERS.keys()].map((placeholder) => `{${placeholder}}`);
    throw new InvalidError({ name_template: [`Only these placeholders are allowed: ${known.join(', ')}.`] });
  }
  if (!new RegExp(NAME_PATTERN).test(name)) {
    throw new InvalidError({ name_template: [`Results in the name "${name}", but a name ${NAME_RULE}.`] });
  }
  return name;
}

import { expect, it } from 'vitest';
import { InvalidError } from '../../../../lib/errors.ts';
import { instanceName } from './names.ts';

it.each([
  [{ name: 'web-1' }, 'web-1'],
  [{}, 'instance-0-3-7'],
  [{ name_template: '{ip_octets}' }, '0-3-7'],
  [{ name_template: 'a {two_ip_octets}.{one_ip_octet}' }, 'a 3-7.7'],
])('%j makes %s', (request, name) => {
  expect(instanceName(request, '10.0.3.7')).toBe(name);
});

it.each(['{octets}', 'a{', '{ip_octets', '{__proto__}', `{ip_octets}${'x'.repeat(60)}`])(
  'refuses the template %s',
  (template) => {
    expect(() => instanceName({ name_template: template }, '10.0.3.7')).toThrow(InvalidError);
  },
);

it.each([
  ['{octets}', /^Only these placeholders are allowed: \{ip_octets\}, \{two_ip_octets\}, \{one_ip_octet\}\.$/],
  [`{ip_octets}${'x'.repeat(60)}`, /^Results in the name "0-3-7x+", but a name /],
])('says what is wrong with the template %s', (template, message) => {
  const problems = () => {
    try {
      return instanceName({ name_template: template }, '10.0.3.7');
    } catch (error) {
      return (error as InvalidError).fields;
    }
  };
  expect(problems()).toEqual({ name_template: [expect.stringMatching(message)] });
});

it('leaves the bytes out where there is no address', () => {
  expect(instanceName({ name_template: 'web{one_ip_octet}' }, '')).toBe('web');
});

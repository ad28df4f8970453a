import { describe, expect, it } from 'vitest';
import type { DdosProfile } from './ddos-profile.ts';
import { type DdosTemplate, ddosProfileProblems } from './ddos-profile.ts';

const ports: DdosTemplate = {
  id: 29,
  name: 'game_servers',
  description: null,
  fields: [
    {
      id: 10,
      name: 'Ports',
      description: 'valid ports 1000-65535',
      field_type: null,
      required: true,
      default: null,
      validation_schema: {
        type: 'array',
        minItems: 1,
        items: { type: 'integer', minimum: 1000, maximum: 65535 },
      },
    },
    {
      id: 11,
      name: 'Limit',
      description: null,
      field_type: 'int',
      required: true,
      default: '100',
      validation_schema: { type: 'integer' },
    },
    {
      id: 12,
      name: 'Note',
      description: null,
      field_type: null,
      required: null,
      default: null,
      validation_schema: null,
    },
    {
      id: 13,
      name: 'Closed',
      description: null,
      field_type: null,
      required: false,
      default: null,
      validation_schema: false,
    },
  ],
};
const open: DdosTemplate = { id: 30, name: 'open', description: null, fields: [] };
const context = { ddosTemplates: [ports, open] };

const on = (change: Partial<DdosProfile>): DdosProfile => ({
  enabled: true,
  fields: [{ base_field: 10, field_value: [45046, 45047] }],
  profile_template: 29,
  profile_template_name: null,
  ...change,
});
const field = (base_field: number, field_value: unknown) => ({ base_field, field_value });
const required = field(10, [45046]);

describe('accepts', () => {
  it.each<[string, DdosProfile]>([
    ['a template by ID', on({})],
    ['a template by name', on({ profile_template: null, profile_template_name: 'game_servers' })],
    ['both in agreement', on({ profile_template_name: 'game_servers' })],
    ['a template without fields', on({ profile_template: 30, fields: [] })],
    ['any JSON where there is no schema', on({ fields: [required, field(12, [{ a: null }])] })],
    ['null for a field with a default', on({ fields: [required, field(11, null)] })],
    ['fields in another order', on({ fields: [field(11, null), required] })],
    ['null for a field that is not required', on({ fields: [required, field(13, null)] })],
    ['nothing at all when off', on({ enabled: false, fields: [], profile_template: null })],
    ['a template without its required field when off', on({ enabled: false, fields: [] })],
  ])('%s', (_, profile) => {
    expect(ddosProfileProblems(profile, context)).toEqual([]);
  });
});

describe('refuses', () => {
  it.each<[string, DdosProfile, string, RegExp]>([
    ['no template', on({ profile_template: null }), 'profile_template', /29 \(game_servers\), 30 \(open\)/],
    ['an unknown template', on({ profile_template: 99 }), 'profile_template', /Unknown template 99/],
    [
      'an unknown name',
      on({ profile_template: null, profile_template_name: 'x' }),
      'profile_template_name',
      /Unknown template x/,
    ],
    [
      'an ID and the name of another',
      on({ profile_template_name: 'open' }),
      'profile_template_name',
      /is named game_servers/,
    ],
    ["another template's field", on({ fields: [required, field(99, 1)] }), 'fields.1.base_field', /no field 99/],
    ['a field of a template without any', on({ profile_template: 30 }), 'fields.0.base_field', /fields are: none/],
    ['a field twice', on({ fields: [required, required] }), 'fields.1.base_field', /twice/],
    ['a missing required field', on({ fields: [] }), 'fields', /field 10 \(Ports\)/],
    ['null for a required field', on({ fields: [field(10, null)] }), 'fields.0.field_value', /required/],
    [
      'a value of another type',
      on({ fields: [field(10, '45046')] }),
      'fields.0.field_value',
      /must be array.*valid ports/,
    ],
    ['an item out of range', on({ fields: [field(10, [45046, 80])] }), 'fields.0.field_value', /at 1: must be >= 1000/],
    ['too few items', on({ fields: [field(10, [])] }), 'fields.0.field_value', /fewer than 1/],
    ['anything where the schema is false', on({ fields: [required, field(13, 1)] }), 'fields.1.field_value', /schema/],
    ['bad fields when off', on({ enabled: false, fields: [field(10, 1)] }), 'fields.0.field_value', /array/],
    ['fields of nothing', on({ enabled: false, profile_template: null }), 'fields', /belong to a template/],
  ])('%s', (_, profile, path, message) => {
    expect(ddosProfileProblems(profile, context)).toEqual([
      { field: `ddos_profile.${path}`, message: expect.stringMatching(message) },
    ]);
  });

  it('any template in a region without one', () => {
    expect(ddosProfileProblems(on({}), { ddosTemplates: [] })[0]?.message).toMatch(/offers no DDoS profile templates/);
  });
});

import { describe, expect, it } from 'vitest';
import { loggingProblems } from '../../../../lib/log-forwarding.ts';
import { LONGEST_TOPIC_NAME, TOPIC_NAME_PATTERN } from '../../../ground/logging/schema.ts';
import type { Logging } from './configuration.ts';
import type { LoggingInput } from './schema.ts';

const context = { destinationRegionIds: [1, 76] };
const logging = (change: Partial<Logging>): Logging => ({
  enabled: true,
  destination_region_id: 76,
  topic_name: 'c1',
  retention_policy: null,
  ...change,
});

describe('destination', () => {
  it.each<[string, LoggingInput, Logging]>([
    ['an offered region', { enabled: true, destination_region_id: 76 }, logging({})],
    ['none while off', { enabled: false }, logging({ enabled: false, destination_region_id: null })],
    [
      'switching off when the region is gone',
      { enabled: false },
      logging({ enabled: false, destination_region_id: 5 }),
    ],
  ])('accepts %s', (_, given, wanted) => {
    expect(loggingProblems(given, wanted, context)).toEqual([]);
  });

  it.each<[string, LoggingInput, Logging, RegExp]>([
    ['enabling without one', { enabled: true }, logging({ destination_region_id: null }), /Is required.*1, 76/],
    [
      'an unknown one',
      { enabled: true, destination_region_id: 5 },
      logging({ destination_region_id: 5 }),
      /Unknown destination region 5/,
    ],
    [
      'an unknown one while off',
      { destination_region_id: 5 },
      logging({ enabled: false, destination_region_id: 5 }),
      /Unknown destination region 5/,
    ],
  ])('refuses %s', (_, given, wanted, message) => {
    expect(loggingProblems(given, wanted, context)).toEqual([
      { field: 'logging.destination_region_id', message: expect.stringMatching(message) },
    ]);
  });

  it('says when the region has no logging', () => {
    expect(loggingProblems({ enabled: true }, logging({}), { destinationRegionIds: [] })[0]?.message).toMatch(
      /not available here/,
    );
  });
});

describe('topic name', () => {
  const pattern = new RegExp(TOPIC_NAME_PATTERN);

  it.each(['a', '0', 'my-log-name', 'a--b', 'a.b', 'a-1.b-2.c', 'a'.repeat(223)])('takes %s', (name) => {
    expect(pattern.test(name)).toBe(true);
  });

  it.each(['', 'A', 'a_b', '-a', 'a-', '.a', 'a.', 'a..b', 'a.-b', 'a-.b', 'a b', 'a\n', 'ä'])('refuses %j', (name) => {
    expect(pattern.test(name)).toBe(false);
  });

  it('takes the same names as the rule in words: labels joined by dots', () => {
    const label = (text: string) => /^[a-z0-9-]+$/.test(text) && !text.startsWith('-') && !text.endsWith('-');
    const alphabet = ['a', '0', '-', '.', '_'];
    let names = [''];
    for (let length = 1; length <= 6; length++) {
      names = names.flatMap((name) => alphabet.map((character) => name + character));
      for (const name of names) expect([name, pattern.test(name)]).toEqual([name, name.split('.').every(label)]);
    }
  });

  // With the published pattern, matching this name would take years.
  it('answers at once for the longest name that fails at its end', () => {
    expect(pattern.test(`a.${'a'.repeat(LONGEST_TOPIC_NAME - 3)}_`)).toBe(false);
    expect(pattern.test(`${'a-'.repeat(111)}_`)).toBe(false);
  });
});

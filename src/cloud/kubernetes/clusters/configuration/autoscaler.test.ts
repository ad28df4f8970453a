import { describe, expect, it } from 'vitest';
import { AUTOSCALER_PARAMETERS, autoscalerProblems } from './validate.ts';

const messageFor = (name: string, value: string) => autoscalerProblems({ [name]: value })[0]?.message;

const NAMES = [...AUTOSCALER_PARAMETERS.keys()];
const ofKind = (kind: string) => NAMES.filter((name) => AUTOSCALER_PARAMETERS.get(name)?.kind === kind);

it('knows the 21 parameters of the specification', () => {
  expect(NAMES).toHaveLength(21);
});

describe('booleans', () => {
  it.each(ofKind('bool'))('%s is true or false', (name) => {
    expect(autoscalerProblems({ [name]: 'true' })).toEqual([]);
    expect(autoscalerProblems({ [name]: 'false' })).toEqual([]);
    for (const value of ['', '1', 't', 'True', 'TRUE', 'yes', ' true']) {
      expect(messageFor(name, value)).toMatch(/"true" or "false"/);
    }
  });
});

describe('durations', () => {
  it.each(ofKind('duration'))('%s is a Go duration', (name) => {
    for (const value of ['10s', '15m', '1h30m', '500ms', '1.5h']) {
      expect(autoscalerProblems({ [name]: value })).toEqual([]);
    }
    for (const value of ['', '10', '1d', '10 s', 'soon', '1e3s']) {
      expect(messageFor(name, value)).toMatch(/Must be a duration/);
    }
    expect(messageFor(name, '-10s')).toMatch(/negative/);
  });

  it.each(['max-node-provision-time', 'scan-interval'])('%s is longer than zero', (name) => {
    expect(messageFor(name, '0')).toMatch(/longer than zero/);
    expect(messageFor(name, '0s')).toMatch(/longer than zero/);
  });

  it.each(['new-pod-scale-up-delay', 'scale-down-delay-after-delete'])('%s may be zero', (name) => {
    expect(autoscalerProblems({ [name]: '0' })).toEqual([]);
    expect(autoscalerProblems({ [name]: '0s' })).toEqual([]);
  });
});

describe('numbers', () => {
  it.each([
    ['expendable-pods-priority-cutoff', '-10'],
    ['expendable-pods-priority-cutoff', '-10.5'],
    ['expendable-pods-priority-cutoff', '1000000000'],
    ['max-empty-bulk-delete', '10'],
    ['max-empty-bulk-delete', '+5'],
    ['max-graceful-termination-sec', '0'],
    ['max-total-unready-percentage', '0'],
    ['max-total-unready-percentage', '100.0'],
    ['ok-total-unready-count', '2147483647'],
    ['expendable-pods-priority-cutoff', '-2147483648'],
    ['scale-down-utilization-threshold', '0'],
    ['scale-down-utilization-threshold', '0.99'],
    ['scale-down-utilization-threshold', '.5'],
    ['scale-down-utilization-threshold', '1'],
  ])('%s takes %s', (name, value) => {
    expect(autoscalerProblems({ [name]: value })).toEqual([]);
  });

  it.each([
    ['expendable-pods-priority-cutoff', '1000000001'],
    ['expendable-pods-priority-cutoff', '-2147483649'],
    ['max-empty-bulk-delete', '-1'],
    ['max-graceful-termination-sec', '-1'],
    ['max-total-unready-percentage', '100.1'],
    ['max-total-unready-percentage', '-0.1'],
    ['ok-total-unready-count', '2147483648'],
    ['ok-total-unready-count', '9'.repeat(250)],
    ['scale-down-utilization-threshold', '1.01'],
    ['scale-down-utilization-threshold', '-0.5'],
  ])('%s refuses %s as out of range', (name, value) => {
    expect(messageFor(name, value)).toMatch(/^Must be from -?\d+ to \d+\.$/);
  });

  it.each(ofKind('int'))('%s is a whole number in decimal', (name) => {
    for (const value of ['', '1.5', '0x10', '010', '1_000', '1e3', 'ten', ' 1']) {
      expect(messageFor(name, value)).toMatch(/whole number/);
    }
  });

  it.each(ofKind('float'))('%s is a number in decimal notation', (name) => {
    for (const value of ['', '.', 'inf', 'NaN', '0x1p-2', '1e-1', '0,5', '50%', '1_0']) {
      expect(messageFor(name, value)).toMatch(/decimal notation/);
    }
  });
});

describe('expander', () => {
  it.each([
    'random',
    'least-waste',
    'price',
    'priority',
    'grpc',
    'most-pods,least-waste',
    'priority,least-waste,random',
  ])('takes %s', (value) => {
    expect(autoscalerProblems({ expander: value })).toEqual([]);
  });

  it.each([
    ['', /empty name/],
    ['random,', /empty name/],
    [',random', /empty name/],
    ['most-pods,,random', /empty name/],
    ['most-pods, random', /white space/],
    ['Random', /Unknown expander Random/],
    ['least-nodes', /Unknown expander least-nodes/],
    ['price,price', /price twice/],
    ['random,most-pods', /must be the last/],
    ['random,random', /random twice/],
  ])('refuses %j', (value, message) => {
    expect(messageFor('expander', value)).toMatch(message);
  });
});

describe('names', () => {
  it('suggests the parameter that was meant', () => {
    expect(autoscalerProblems({ 'scan-intervall': '10s' })).toEqual([
      {
        field: 'autoscaler_config.scan-intervall',
        message: 'Unknown parameter. Did you mean scan-interval?',
      },
    ]);
  });

  it.each(['constructor', '__proto__', 'colour', ''])('refuses %j and lists what is known', (name) => {
    const map = JSON.parse(`{${JSON.stringify(name)}: "1"}`) as Record<string, string>;
    expect(autoscalerProblems(map)[0]?.message).toMatch(/Use one of: balance-similar-node-groups, /);
  });

  it('reports every fault', () => {
    const problems = autoscalerProblems({
      'scan-interval': '10',
      'scale-down-enabled': 'true',
      expander: 'best',
    });
    expect(problems.map(({ field }) => field)).toEqual([
      'autoscaler_config.scan-interval',
      'autoscaler_config.expander',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { loadConfig, unknownSettings } from './config.ts';

describe('settings', () => {
  it('have defaults, also when they are empty', () => {
    expect(loadConfig({ TRADEWIND_PORT: '', DATABASE_URL: '' })).toMatchObject({
      port: 8080,
      databaseUrl: undefined,
      bootstrapToken: undefined,
      trustedProxies: [],
    });
  });

  it.each([
    ['TRADEWIND_PORT', '65536'],
    ['TRADEWIND_PORT', '-1'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', '0_secret-of-some-length'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', 'a-secret-without-its-id'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', '1_x'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', '1_15-characters..'],
    ['DATABASE_URL', 'mysql://u@h/db'],
    ['DATABASE_URL', 'postgres://u@h/'],
    ['TRADEWIND_SIMULATION_SPEED', '0'],
    ['TRADEWIND_LOG_LEVEL', 'loud'],
    ['TRADEWIND_AI_TIME_FACTOR', '0'],
    ['TRADEWIND_AI_MEMORY_MB', '999'],
  ])('refuse %s=%s without repeating the value', (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(
      new RegExp(`^${name} is not usable: it must be [^\\n]+$`),
    );
  });

  it('take a secret of 16 characters, and say how long one has to be', () => {
    expect(loadConfig({ TRADEWIND_BOOTSTRAP_TOKEN: '1$16-characters...' }).bootstrapToken?.id).toBe(1);
    expect(() => loadConfig({ TRADEWIND_BOOTSTRAP_TOKEN: '1$15-characters..' })).toThrow(
      /at least 16 characters/,
    );
  });

  it('are all named that are no use', () => {
    const bad = { TRADEWIND_PORT: 'x', TRADEWIND_LOG_FORMAT: 'xml', TRADEWIND_SIMULATION_SPEED: '0' };
    expect(() => loadConfig(bad)).toThrow(
      /^TRADEWIND_PORT .*\nTRADEWIND_SIMULATION_SPEED .*\nTRADEWIND_LOG_FORMAT .*$/,
    );
  });
});

it('names the setting that an unknown one most likely means', () => {
  expect(
    unknownSettings({ TRADEWIND_PROT: '1', TRADEWIND_DATABASE_URL: '1', TRADEWIND_XYZZYX: '1', PATH: '/' }),
  ).toEqual([
    'TRADEWIND_PROT is no setting of Tradewind and has no effect; did you mean TRADEWIND_PORT?',
    'TRADEWIND_DATABASE_URL is no setting of Tradewind and has no effect; did you mean DATABASE_URL?',
    'TRADEWIND_XYZZYX is no setting of Tradewind and has no effect',
  ]);
});

import { describe, expect, it } from 'vitest';
import type { HealthMonitor } from '../../../../db/json-columns.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { membersOf, monitorOf, persistenceOf } from './rules.ts';
import type { ChangeHealthMonitor, CreateMember, PersistenceInput, PoolProtocol } from './schema.ts';

const fields = (problems: FieldProblem[]) => problems.map(({ field }) => field);

describe('session persistence', () => {
  const problemsOf = (given: PersistenceInput, protocol: PoolProtocol) => {
    const problems: FieldProblem[] = [];
    persistenceOf(given, protocol, 'p', problems);
    return fields(problems);
  };
  it.each<[PersistenceInput, PoolProtocol, string[]]>([
    [{ type: 'HTTP_COOKIE' }, 'HTTP', []],
    [{ type: 'HTTP_COOKIE' }, 'TCP', ['p.type']],
    [{ type: 'APP_COOKIE', cookie_name: 'session' }, 'PROXY', []],
    [{ type: 'APP_COOKIE' }, 'HTTP', ['p.cookie_name']],
    [{ type: 'SOURCE_IP' }, 'TCP', []],
    [{ type: 'SOURCE_IP', cookie_name: 'session' }, 'TCP', ['p.cookie_name']],
    [{ type: 'SOURCE_IP', persistence_timeout: 5, persistence_granularity: '255.0.0.0' }, 'UDP', []],
    [{ type: 'SOURCE_IP', persistence_timeout: 5 }, 'TCP', ['p.persistence_timeout']],
    [{ type: 'SOURCE_IP', persistence_granularity: '255.0.0.0' }, 'TCP', ['p.persistence_granularity']],
    [{ type: 'SOURCE_IP', persistence_granularity: 'wide' }, 'UDP', ['p.persistence_granularity']],
    [{ type: 'HTTP_COOKIE' }, 'UDP', ['p.type']],
  ])('%j of a %s pool', (given, protocol, expected) => {
    expect(problemsOf(given, protocol)).toEqual(expected);
  });

  it('is none where none is wanted', () => {
    expect(persistenceOf(null, 'HTTP', 'p', [])).toBeNull();
  });
});

describe('health monitor', () => {
  const base = { delay: 10, timeout: 5, max_retries: 2 };
  const problemsOf = (
    given: Partial<ChangeHealthMonitor>,
    protocol: PoolProtocol = 'HTTP',
    current: HealthMonitor | null = null,
  ) => {
    const problems: FieldProblem[] = [];
    monitorOf({ ...base, ...given }, current, protocol, 'm.', problems);
    return fields(problems);
  };
  it.each<[Partial<ChangeHealthMonitor>, PoolProtocol, string[]]>([
    [{ type: 'TCP' }, 'HTTP', []],
    [{}, 'HTTP', ['m.type']],
    [{ type: 'TCP', timeout: 10 }, 'HTTP', ['m.timeout']],
    [{ type: 'TCP', url_path: '/' }, 'HTTP', ['m.url_path']],
    [{ type: 'HTTPS', url_path: '/', http_method: 'GET', expected_codes: '200' }, 'HTTP', []],
    [{ type: 'HTTP', domain_name: 'a.example' }, 'HTTP', ['m.http_version']],
    [{ type: 'HTTP', domain_name: 'a.example', http_version: '1.1' }, 'HTTP', []],
    [{ type: 'UDP-CONNECT' }, 'UDP', []],
    [{ type: 'UDP-CONNECT' }, 'TCP', ['m.type']],
    [{ type: 'TCP' }, 'UDP', []],
    [{ type: 'PING' }, 'UDP', ['m.type']],
  ])('%j of a %s pool', (given, protocol, expected) => {
    expect(problemsOf(given, protocol)).toEqual(expected);
  });

  it('keeps its ID and its type', () => {
    const current = monitorOf({ ...base, type: 'PING' }, null, 'TCP', '', []);
    const problems: FieldProblem[] = [];
    const next = monitorOf({ ...base, delay: 20 }, current, 'TCP', '', problems);
    expect(problems).toEqual([]);
    expect(next).toEqual({ ...current, delay: 20 });
    expect(problemsOf({ type: 'TCP' }, 'TCP', current)).toEqual(['m.type']);
  });
});

describe('members', () => {
  const problemsOf = (given: CreateMember[]) => {
    const problems: FieldProblem[] = [];
    membersOf(given, 'members.', problems);
    return fields(problems);
  };
  const one = { address: '10.0.0.5', protocol_port: 80 };
  it.each<[CreateMember[], string[]]>([
    [[one, { ...one, protocol_port: 81 }], []],
    [[one, one], ['members.1.address']],
    [[{ ...one, address: '169.254.169.254' }], ['members.0.address']],
    [
      [
        { ...one, address: 'FD00::1' },
        { ...one, address: 'fd00:0::1' },
      ],
      ['members.1.address'],
    ],
    [[{ ...one, address: '10.0.0' }], ['members.0.address']],
    [[{ ...one, monitor_address: 'none' }], ['members.0.monitor_address']],
  ])('%j', (given, expected) => {
    expect(problemsOf(given)).toEqual(expected);
  });

  it('have defaults', () => {
    expect(membersOf([one], 'members.', [])).toEqual([
      {
        at: 'members.0.',
        ...one,
        subnet_id: null,
        instance_id: null,
        weight: 1,
        backup: false,
        admin_state_up: true,
        monitor_address: null,
        monitor_port: null,
      },
    ]);
  });
});
